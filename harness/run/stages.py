"""The client's side of stages: which are open, which is for a job, which may be closed."""

from __future__ import annotations

import json
from collections.abc import Callable

from .connection import Connection
from .job import Job

_MOST = 6  # each is a process with what set-up made in it


def key_of(job: Job) -> str:
    """All that set-up may depend on."""
    return json.dumps([job.schedule.threads, job.schedule.axes, job.fix], sort_keys=True)


class _Stage:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.ready = False
        self.runs: set[int] = set()  # those still to report


class Stages:
    """``open_stage(job)`` asks for one; ``pump()`` waits for news, which come back as calls of this object's methods."""

    def __init__(self, open_stage: Callable[[Job], Connection], pump: Callable[[], None]) -> None:
        self._open, self._pump = open_stage, pump
        self._by_key: dict[str, _Stage | None] = {}  # None: set-up can't be done there, each run does its own
        self._of_run: dict[int, _Stage] = {}

    @property
    def connections(self) -> list[Connection]:
        return [stage.connection for stage in self._by_key.values() if stage is not None]

    def for_job(self, job: Job, number: int) -> Connection | None:
        """Where run ``number`` is to be sent; None: to the parent, and it does its own set-up."""
        if job.plain or job.residue:
            return None
        key = key_of(job)
        if key not in self._by_key:
            self._make_room()
            stage: _Stage | None = _Stage(self._open(job))
            self._by_key[key] = stage
            while (stage := self._by_key[key]) is not None and not stage.ready:
                self._pump()
        stage = self._by_key[key] = self._by_key.pop(key)  # the last used is the last
        if stage is None:
            return None
        stage.runs.add(number)
        self._of_run[number] = stage
        return stage.connection

    def _make_room(self) -> None:
        idle = [key for key, stage in self._by_key.items() if stage is not None and not stage.runs]
        if len(self.connections) >= _MOST and idle:
            stage = self._by_key.pop(idle[0])
            assert stage is not None
            stage.connection.close()

    def is_ready(self, connection: Connection) -> None:
        for stage in self._by_key.values():
            if stage is not None and stage.connection is connection:
                stage.ready = True

    def ended(self, connection: Connection) -> bool:
        """A stage has ended by itself: False when runs are lost with it."""
        for key, stage in self._by_key.items():
            if stage is not None and stage.connection is connection:
                connection.close()
                self._by_key[key] = None
                return not stage.runs
        return True

    def reported(self, number: int) -> None:
        stage = self._of_run.pop(number, None)
        if stage is not None:
            stage.runs.discard(number)

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        self._by_key.clear()
