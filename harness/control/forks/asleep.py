"""Does a forked child go on by itself? Told from its state in the kernel, as for a thread that is blocked in C."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from .. import raw

_BETWEEN = 0.05  # seconds between two looks; how many it takes is no part of the point sequence


def ended(pid: int) -> bool:
    """True too where someone else has waited for it already."""
    try:
        return raw.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


#: Process -> how often each of its threads had been switched out when it was last found asleep.
_slept: dict[int, list[str]] = {}


def settle(pid: int, within: float = float("inf")) -> bool:
    """Returns once child ``pid`` has ended (True), or all its threads, and all of the processes that it started, sleep
    until another does something (False), or so many seconds of the kernel's are over (False)."""
    before: list[str] | None = None
    began, waited = raw.monotonic(), 0.0
    while not ended(pid):
        if sleeps(pid):
            return ended(pid)
        if waited < _BETWEEN:
            raw.sleep(0.001)
            waited += 0.001
            if raw.monotonic() - began >= within:
                return False
            continue
        now = _asleep(pid)
        if now is not None and now == before:
            _slept[pid] = now
            return ended(pid)
        before, waited = now, 0.0
    return True


def sleeps(pid: int) -> bool:
    """Has it slept ever since it was last found asleep?"""
    return pid in _slept and _slept[pid] == _asleep(pid)


def _asleep(pid: int) -> list[str] | None:
    """How often each thread was switched out so far; None where one of them runs."""
    found: list[str] = []
    for task in tasks(pid):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if task.joinpath("stat").read_text().rpartition(")")[2].split()[0] not in "SZ":
                return None
            for line in task.joinpath("status").read_text().splitlines():
                if "ctxt_switches" in line:
                    found.append(f"{task.name} {line}")
    return found


def tasks(pid: int) -> list[Path]:
    found = []
    with contextlib.suppress(OSError):
        for task in sorted(Path(f"/proc/{pid}/task").iterdir()):
            found.append(task)
            for child in task.joinpath("children").read_text().split():
                found += tasks(int(child))
    return found
