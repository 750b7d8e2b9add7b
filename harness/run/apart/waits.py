"""What a thread waits for, told to the other processes: a semaphore or file that was there before the fork is theirs too, and
who gives it back, or writes, may be one of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from harness.control.files import Readiness
from harness.control.semaphores import Free, SemLock

#: [title, handle of a semaphore, files: (descriptor, events, which file that is)]
Told = list[Any]


class Elsewhere:
    """What only the process of the thread that waits can look at."""

    def __init__(self, title: str) -> None:
        self.title = title


def told(waiting: Any, common: Mapping[int, SemLock]) -> Told:
    """``common``: the semaphores that were there before the fork, by handle."""
    title = getattr(waiting, "title", "")
    if isinstance(waiting, Free) and common.get(waiting.semaphore.handle) is waiting.semaphore:
        return [title, waiting.semaphore.handle, []]
    if isinstance(waiting, Readiness):
        return [title, 0, [[fd, events, _which(fd)] for fd, events in waiting.files]]
    return [title, 0, []]


def heard(told: Told, common: Mapping[int, SemLock]) -> Readiness | Elsewhere | None:
    title, handle, files = told
    if handle:
        return Free(common[handle])
    same = [(fd, events) for fd, events, which in files if which and which == _which(fd)]
    if same:
        return Readiness(same)
    return Elsewhere(title) if title else None


def _which(fd: int) -> list[int]:
    """Empty for what has no number of its own, as an eventfd."""
    try:
        found = os.fstat(fd)
    except OSError:
        return []
    return [found.st_dev, found.st_ino] if stat.S_IFMT(found.st_mode) else []
