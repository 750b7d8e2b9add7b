"""The semaphores of ``multiprocessing`` under control: another thread, or another process, gives one back."""

from __future__ import annotations

import _multiprocessing
import weakref
from typing import Any

from . import active
from .files import Readiness, wait_on

_Real: Any = _multiprocessing.SemLock


class Free(Readiness):
    """Looked after as a file is: the kernel tells nobody."""

    title = "a semaphore of multiprocessing"

    def __init__(self, semaphore: SemLock) -> None:
        super().__init__(())
        self.semaphore = semaphore

    def now(self) -> bool:
        return not self.semaphore._is_zero()


_by_handle: weakref.WeakValueDictionary[int, SemLock] = weakref.WeakValueDictionary()


def living() -> dict[int, SemLock]:
    """By its handle, which is an address: a fork keeps it, and in another process another semaphore may come to have it."""
    return dict(_by_handle)


class SemLock(_Real):
    def __init__(self, *_: Any, **__: Any) -> None:
        _by_handle[self.handle] = self

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        me = active.managed()
        if me is None or not block or me.controller.forked is not None:  # a child that waits in C is seen to sleep
            return bool(super().acquire(block, timeout))
        clock = me.controller
        until = None if timeout is None else clock.clock + timeout
        while not super().acquire(False):
            if not wait_on(me, Free(self), "SemLock", None if until is None else until - clock.clock):
                return bool(super().acquire(False))
        return True

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *args: object) -> None:
        self.release()


#: (where, name, replacement), as in :mod:`harness.control.install`.
TABLE: list[tuple[Any, str, Any]] = [(_multiprocessing, "SemLock", SemLock)]
