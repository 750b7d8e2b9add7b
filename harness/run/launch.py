"""The client's side: a zygote for one scenario, and runs on it, several at a time."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.errors import CannotTest, NeedsRestart, UserError
from harness.oracles.compiled import Compiled
from harness.oracles.orders import Orders
from harness.oracles.sequential import Sequential
from harness.oracles.usual import Usual
from harness.scenario.registered import resolve

from .connection import Connection
from .death import kill_session
from .job import Job
from .report import Report
from .stages import Stages

#: What the parent may answer with instead of serving, by name.
_ERRORS: dict[str, type[Exception]] = {kind.__name__: kind for kind in (UserError, NeedsRestart, CannotTest)}

#: The parent's environment: one hash seed, one thread a library, nothing that prints.
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Launcher:
    """Runs jobs of one scenario in fresh processes. A context manager; nothing is left when it is closed.

    about     what the scenario declares and the scan found
    points    kinds of points, where others are wanted than the scenario says
    fixes     those that jobs will name; a user's own is part of the program, and its code has points
    Raises UserError where the scenario cannot be loaded.
    """

    def __init__(
        self, reference: str, *, free: bool = False, jobs: int | None = None, python: str | None = None,
        points: Sequence[str] | None = None, fixes: Sequence[str] = (),
    ) -> None:
        self.reference = reference
        self.points = points
        self.fixes = [name for name in fixes if ":" in name]
        self.free = free
        self.jobs = jobs or max(1, len(os.sched_getaffinity(0)))
        self.python = python or sys.executable
        self._connection: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stages: Stages | None = None
        self._arrived: dict[int, dict[str, Any]] = {}
        self._unwanted: set[int] = set()
        self._number = 0
        self._cleared = False
        self.about = self._start()
        if self.about["fork_after_setup"]:
            self._stages = Stages(self._open, self._pump)
        orders = Orders(self._plain)
        self._oracles: list[Sequential | Compiled | Usual] = [
            Sequential(orders, self.about["compares"]), Usual(self._plain, "program" in self.about),
        ]  # fmt: skip
        if self.about["torch"]:
            self._oracles.insert(0, Compiled(orders))  # a graph that changed may be seen in a value as well
        self._jobs: dict[int, Job] = {}
        self.restored = frozenset(self.about["save_restore"])
        self.fewest: int = self.about["threads"][0]
        self.bodies: int = self.about["bodies"]

    def _start(self) -> dict[str, Any]:
        self._connection = connection = Connection()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 (a pipe that nobody reads would fill up)
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        with connection.theirs as theirs:
            self._process = subprocess.Popen(
                [self.python, "-m", "harness.parent", str(theirs.fileno()), resolve(self.reference),
                 "free" if self.free else "gil", str(os.getpid()), *(self.points or ()),
                 *(f"fix={name}" for name in self.fixes)],
                pass_fds=[theirs.fileno()],
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._words,
                start_new_session=True,
            )  # fmt: skip
        try:
            message = self._first_words(connection)
        except BaseException:
            self.close()
            raise
        if "error" in message:
            self.close()
            raise _ERRORS.get(message.get("kind", ""), UserError)(message["error"])
        return message["about"]

    def _first_words(self, connection: Connection) -> dict[str, Any]:
        while not (messages := connection.receive()):
            if messages is None:
                raise CannotTest("the forking parent ended: " + self._last_words())
        return messages[0]

    def _pump(self) -> None:
        """Wait until something arrives, and put it where it is looked for."""
        assert self._connection is not None
        stages = self._stages.connections if self._stages is not None else []
        for connection in select.select([self._connection, *stages], [], [])[0]:
            messages = connection.receive()
            if messages is None and connection is self._connection:
                raise CannotTest("the forking parent ended: " + self._last_words())
            if messages is None and self._stages is not None and not self._stages.ended(connection):
                raise CannotTest("a process that runs are forked from ended, with runs still to report")
            for message in messages or ():
                if "ready" in message and self._stages is not None:
                    self._stages.is_ready(connection)
                elif message["number"] in self._unwanted:
                    self._unwanted.discard(message["number"])
                else:
                    self._arrived[message["number"]] = message["report"]

    def _last_words(self) -> str:
        assert self._process is not None
        self._clear_away()
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").strip().splitlines()
        if lines:
            return lines[-1]
        status = self._process.returncode
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"status {status}"

    def _clear_away(self) -> None:
        """Wait for the forking parent's end; where it was killed, do for it what it does at its end, and at once:
        later the number may be another's."""
        assert self._process is not None
        if self._process.wait() < 0 and not self._cleared:
            kill_session(self._process.pid)
        self._cleared = True

    def start(self, job: Job) -> int:
        """Begin a run; its number is for :meth:`wait`."""
        self._number += 1
        self._jobs[self._number] = job
        stage = self._stages.for_job(job, self._number) if self._stages is not None else None
        self._send({"number": self._number, "job": job.to_json()}, stage or self._connection)
        return self._number

    def wait(self, number: int) -> Report:
        """The report of a run that was started. Raises UserError when its set-up or fix raised."""
        job, data = self._jobs[number], self._data(number)
        for oracle in self._oracles:
            oracle.judge(job, data)
        return Report.from_json(data, self.about["expect"])

    def _data(self, number: int) -> dict[str, Any]:
        while number not in self._arrived:
            self._pump()
        if self._stages is not None:
            self._stages.reported(number)
        del self._jobs[number]
        data = self._arrived.pop(number)
        if "broken" in data:
            raise UserError(f"{self.reference}: {data['broken']['message']} {data['noise'][-3000:]}".rstrip())
        return data

    def _plain(self, job: Job) -> dict[str, Any]:
        return self._data(self.start(job))

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Report]]:
        """Run jobs, several at a time; (job, report) in order. What still runs when the caller stops ends unread."""
        flying: deque[tuple[Job, int]] = deque()
        waiting = iter(jobs)
        try:
            while True:
                while len(flying) < self.jobs and (job := next(waiting, None)) is not None:
                    flying.append((job, self.start(job)))
                if not flying:
                    return
                done, number = flying.popleft()
                yield done, self.wait(number)
        finally:
            for _, number in flying:  # the caller has stopped, and a run may be endless
                self._jobs.pop(number, None)
                if self._arrived.pop(number, None) is None:
                    self._unwanted.add(number)

    def run(self, job: Job) -> Report:
        return self.wait(self.start(job))

    def _open(self, job: Job) -> Connection:
        """Ask for a stage: a process that does the set-up and then takes jobs from the connection."""
        stage = Connection()
        with stage.theirs as theirs:
            self._send({"stage": job.to_json()}, self._connection, theirs.fileno())
        return stage

    def _send(self, message: dict[str, Any], connection: Connection | None, *handed_over: int) -> None:
        assert connection is not None
        try:
            connection.send(message, *handed_over)
        except OSError:
            raise CannotTest("the forking parent ended: " + self._last_words()) from None

    def abort(self) -> None:
        """From another thread: whoever waits for a run gets CannotTest."""
        if self._process is not None:
            self._process.terminate()

    def close(self) -> None:
        if self._stages is not None:
            self._stages.close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._clear_away()
            self._words.close()
            self._process = None

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
