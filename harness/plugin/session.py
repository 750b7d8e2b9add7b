"""What all tests of one process share: the options, the forking parents, the answers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.cli.options import check_schedule, schedule_from
from harness.errors import UserError
from harness.fixes import fix_of_a_run
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule


class _Forced(Launcher):
    """Every run is made under one fix, whoever asks for it."""

    fix = "none"

    def start(self, job: Job) -> int:
        return super().start(replace(job, fix=self.fix))


class Session:
    """What all tests of one process share: the options, the forking parents, the answers."""

    def __init__(self, config: pytest.Config) -> None:
        self.budget: int | None = config.getoption("race_budget")
        self.fix: str | None = config.getoption("race_fix")
        token = config.getoption("race_replay")
        if token is not None and self.budget is not None:
            raise pytest.UsageError("--race-budget: with --race-replay nothing is searched")
        try:
            if self.fix is not None:
                fix_of_a_run(self.fix)
            self.schedule = schedule_from(token) if token is not None else None
        except UserError as error:
            raise pytest.UsageError(" ".join(str(error).split())) from None
        workers = getattr(config, "workerinput", {}).get("workercount", 1)
        self.jobs = max(1, len(os.sched_getaffinity(0)) // workers)
        self.replayed = 0
        self.answers: dict[object, Any] = {}
        self._launchers: dict[tuple[str, bool, tuple[str, ...]], Launcher] = {}

    def launcher(self, reference: str, free: bool, fixes: Sequence[str] = ()) -> Launcher:
        """``fixes``: those that runs on it will name."""
        own = tuple(sorted(name for name in {*fixes, self.fix or ""} if ":" in name))
        key = (reference, free, own)
        if key not in self._launchers:
            kind = Launcher if self.fix is None else _Forced
            launcher = self._launchers[key] = kind(reference, free=free, jobs=self.jobs, fixes=own)
            if isinstance(launcher, _Forced) and self.fix is not None:
                launcher.fix = self.fix
        return self._launchers[key]

    def replay(self, reference: str) -> Schedule | None:
        """What ``--race-replay`` says, to be run in place of a schedule that Hypothesis draws."""
        if self.schedule is None:
            return None
        if self.schedule.scenario != reference:
            pytest.skip(f"--race-replay is about {self.schedule.scenario}")
        check_schedule(self.schedule, self.launcher(reference, self.schedule.free))
        self.replayed += 1
        return self.schedule

    def close(self) -> None:
        while self._launchers:
            self._launchers.popitem()[1].close()
