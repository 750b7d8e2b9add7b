"""The processes of a campaign, seen from its parent."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.errors import CannotTest
from harness.run import wire

from .plan import Plan

_CLOSING = 10.0  # seconds a worker has for the end of what it started


class _Member:
    def __init__(self, plan: Plan, interpreter: str | None) -> None:
        self.socket, theirs = socket.socketpair()
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "harness.campaign.worker", str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        self.reader = wire.Reader()
        self.unit: int | None = None
        self.scenario = ""
        self.socket.sendall(wire.pack({"plan": plan.to_json(), "interpreter": interpreter}))

    def last_words(self) -> str:
        self.process.wait()
        assert self.process.stderr is not None
        lines = self.process.stderr.read().decode(errors="replace").strip().splitlines()
        status = self.process.returncode
        return lines[-1] if lines else f"killed by {signal.Signals(-status).name}" if status < 0 else f"status {status}"


class Crew:
    """``jobs`` workers; nothing is left of them when it is closed."""

    def __init__(self, plan: Plan, jobs: int, interpreter: str | None = None) -> None:
        self.plan = plan
        self.selector = selectors.DefaultSelector()
        self.members: list[_Member] = []
        try:
            for _ in range(jobs):
                member = _Member(plan, interpreter)
                self.members.append(member)
                self.selector.register(member.socket, selectors.EVENT_READ, member)
        except BaseException:
            self.close()
            raise

    def idle(self) -> list[_Member]:
        return [member for member in self.members if member.unit is None]

    def give(self, member: _Member, number: int) -> None:
        member.unit, member.scenario = number, self.plan.unit(number).cell.scenario
        member.socket.sendall(wire.pack({"unit": number}))

    def messages(self, seconds: float | None) -> Iterator[dict[str, Any]]:
        """What workers say, waited for at most so long. Raises CannotTest when one has ended."""
        for key, _ in self.selector.select(seconds):
            member: _Member = key.data
            try:
                data = member.socket.recv(1 << 20)
            except ConnectionResetError:
                data = b""
            if not data:
                raise CannotTest(f"a process of the campaign ended: {member.last_words()}; the same command goes on")
            for message in member.reader.feed(data):
                if "done" in message:
                    member.unit = None
                yield message

    def close(self) -> None:
        for member in self.members:
            member.socket.close()
            member.process.terminate()  # it may be in the middle of a unit
        for member in self.members:
            try:
                member.process.wait(timeout=_CLOSING)
            except subprocess.TimeoutExpired:
                member.process.kill()
                member.process.wait()
            if member.process.stderr is not None:
                member.process.stderr.close()
        self.members = []
        self.selector.close()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
