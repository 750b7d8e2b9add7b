"""The client's side: a zygote for one scenario, and runs on it, several at a time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.errors import CannotTest, UserError

from . import wire
from .death import kill_session
from .job import Job
from .report import Report

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
    Raises UserError where the scenario cannot be loaded.
    """

    def __init__(self, reference: str, *, free: bool = False, jobs: int | None = None, python: str | None = None) -> None:
        self.reference = reference
        self.free = free
        self.jobs = jobs or max(1, len(os.sched_getaffinity(0)))
        self.python = python or sys.executable
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._reader = wire.Reader()
        self._inbox: list[dict[str, Any]] = []
        self._arrived: dict[int, dict[str, Any]] = {}
        self._unwanted: set[int] = set()
        self._number = 0
        self._cleared = False
        self.about = self._start()
        self.restored = frozenset(self.about["save_restore"])

    def _start(self) -> dict[str, Any]:
        ours, theirs = socket.socketpair()
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        with theirs:
            self._process = subprocess.Popen(
                [self.python, "-m", "harness.run.zygote", str(theirs.fileno()), self.reference,
                 "free" if self.free else "gil", str(os.getpid())],
                pass_fds=[theirs.fileno()],
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        self._socket = ours
        self._reader = wire.Reader()
        try:
            message = self._receive()
        except BaseException:
            self.close()
            raise
        if "error" in message:
            self.close()
            raise UserError(message["error"])
        return message["about"]

    def _receive(self) -> dict[str, Any]:
        assert self._socket is not None
        while not self._inbox:
            data = self._socket.recv(1 << 20)
            if not data:
                raise CannotTest("the forking parent ended: " + self._last_words())
            self._inbox += self._reader.feed(data)
        return self._inbox.pop(0)

    def _last_words(self) -> str:
        assert self._process is not None
        assert self._process.stderr is not None
        self._clear_away()
        lines = self._process.stderr.read().decode(errors="replace").strip().splitlines()
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
        self._send({"number": self._number, "job": job.to_json()})
        return self._number

    def wait(self, number: int) -> Report:
        """The report of a run that was started. Raises UserError when its set-up or fix raised."""
        while number not in self._arrived:
            message = self._receive()
            if message["number"] in self._unwanted:
                self._unwanted.discard(message["number"])
            else:
                self._arrived[message["number"]] = message["report"]
        return self._report(self._arrived.pop(number))

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
                if self._arrived.pop(number, None) is None:
                    self._unwanted.add(number)

    def run(self, job: Job) -> Report:
        return self.wait(self.start(job))

    def _report(self, data: dict[str, Any]) -> Report:
        if "broken" in data:
            raise UserError(f"{self.reference}: {data['broken']['message']} {data['noise'][-3000:]}")
        return Report.from_json(data, self.about["expect"])

    def _send(self, message: dict[str, Any]) -> None:
        assert self._socket is not None
        try:
            self._socket.sendall(wire.pack(message))
        except OSError:
            raise CannotTest("the forking parent ended: " + self._last_words()) from None

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._clear_away()
            if self._process.stderr is not None:
                self._process.stderr.close()
            self._process = None

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
