"""The children of a run, and what they tell it.

They write into one anonymous file, in whole messages at its end: unlike a pipe it is never full, and what a child wrote is
there however the child ends. It is read only where that cannot depend on time: once a child has ended, or does nothing more.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
from dataclasses import asdict, dataclass, field
from typing import Any

from .. import raw
from ..blocked import WaitReport
from .asleep import ended, settle

#: A child that ends by one of these did not mean to.
FAULTS = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT})


@dataclass
class Child:
    """name      in reports: ``T1's child``
    waits     of its threads, where it has deadlocked
    findings  of its own, as plain data: what it raised
    status    as ``os.waitpid`` gives it; None until somebody waited
    program   it runs another program, not this one
    """

    pid: int
    name: str
    waits: list[WaitReport] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    status: int | None = None
    program: bool = False

    @property
    def title(self) -> str:
        return f"the end of {self.name}"


class Account:
    """``children`` by process id, those of children too. ``used``: (id of a lock that was there before the fork, root of the
    thread that forked) for locks that a child uses."""

    def __init__(self) -> None:
        self.children: dict[int, Child] = {}
        self.own: set[int] = set()
        self.used: set[tuple[int, int]] = set()
        self._fd = -1
        self._read = 0

    def open(self) -> None:
        if self._fd < 0:
            self._fd = os.memfd_create("children")
            fcntl.fcntl(self._fd, fcntl.F_SETFL, fcntl.fcntl(self._fd, fcntl.F_GETFL) | os.O_APPEND)

    def add(self, pid: int, name: str) -> None:
        self.own.add(pid)
        self.children[pid] = Child(pid, name)

    def add_program(self, pid: int, thread: str) -> None:
        self.own.add(pid)
        self.children[pid] = Child(pid, f"a program that {thread} started", program=True)

    def programs(self) -> list[Child]:
        """Those that have not ended."""
        mine = [self.children[pid] for pid in self.own]
        return [child for child in mine if child.program and child.status is None and not ended(child.pid)]

    def tell(self, name: str, **message: Any) -> None:
        """Called by a child."""
        os.write(self._fd, json.dumps({"pid": os.getpid(), "name": name, **message}).encode() + b"\n")

    def read(self) -> None:
        if self._fd < 0:
            return
        new = os.pread(self._fd, 1 << 30, self._read)
        self._read += len(new)
        for line in new.splitlines():
            message = json.loads(line)
            child = self.children.setdefault(message["pid"], Child(message["pid"], message["name"]))
            child.waits += [WaitReport(**wait) for wait in message.get("waits", ())]
            child.findings += message.get("findings", ())
            if "used" in message:
                self.used.add(tuple(message["used"]))

    def settle(self) -> None:
        """Let living children do what they can do by themselves."""
        for pid in self.own:
            if self.children[pid].status is None:
                settle(pid)

    def close(self) -> None:
        """At the end of the run: children that nobody waited for are waited for until they do nothing more."""
        for child in [self.children[pid] for pid in self.own if self.children[pid].status is None]:
            if ended(child.pid) if child.program else settle(child.pid):
                with contextlib.suppress(ChildProcessError):
                    child.status = raw.waitpid(child.pid, os.WNOHANG)[1]
        self.read()
        for child in self.children.values():
            if child.waits:  # it stays where it is; nobody needs it any more
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    raw.waitpid(child.pid, 0)
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def deadlocked(self) -> list[WaitReport]:
        return [wait for child in self.children.values() for wait in child.waits]

    def found(self) -> list[dict[str, Any]]:
        """Findings of children, as plain data."""
        found = []
        for child in self.children.values():
            found += child.findings
            if not child.program and child.status is not None and os.WIFSIGNALED(child.status) and os.WTERMSIG(child.status) in FAULTS:
                text = f"{child.name} was killed by {signal.Signals(os.WTERMSIG(child.status)).name}"
                found.append({"kind": "crash", "signature": text, "message": text, "thread": child.name})
        return found


def plain(waits: list[WaitReport]) -> list[dict[str, Any]]:
    return [asdict(wait) for wait in waits]
