"""A ``threading.Lock`` under control; outside a run, the real lock with one test more."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from .. import active, raw
from ..managed import Managed, Status
from . import site


class CoopLock:
    """Mutual exclusion. Not reentrant; may be released by another thread, as the original may."""

    __slots__ = ("__weakref__", "_real", "born", "notify", "owner", "taken_at")

    def __init__(self) -> None:
        self._real = raw.allocate_lock()
        self.owner: Managed | None = None
        self.taken_at = ""
        self.born = site.born(1)
        self.notify = False

    # -- as a thing to wait for
    @property
    def title(self) -> str:
        return "a notify" if self.notify else f"the lock made at {self.born}"

    def holder(self) -> str:
        if self.notify or not self._real.locked():
            return ""
        if self.owner is None:
            return "a thread outside the run"
        gone = ", which does not exist there" if self.owner.status is Status.ELSEWHERE else ""
        return f"{self.owner.name}{gone}, taken at {self.taken_at}"

    # -- the lock's own face
    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        me = active.managed()
        if me is None:
            return self._real.acquire(blocking, timeout)
        return self._acquire(me, blocking, timeout, place=True)

    def __enter__(self) -> bool:
        me = active.managed()
        if me is None:
            return self._real.acquire()
        return self._acquire(me, True, -1, place=False)  # WITH calls, but the interpreter does not check after it

    def _acquire(self, me: Managed, blocking: bool, timeout: float, place: bool) -> bool:
        control = me.controller
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        name, line = site.using(2)
        key = "lock:" + name
        while not self._real.acquire(False):
            if blocking:
                self.notify = site.waits_for_notify(2)
                if control.block(me, self, name, line, None if timeout < 0 else timeout):
                    continue
                if self._real.acquire(False):
                    break
            control.point(me, key)
            return False
        self.owner, self.taken_at = me, line
        control.used(self, me, key)
        control.point(me, key)
        if place:
            control.place(me)
        return True

    def release(self) -> None:
        self._release(place=True)

    def _release(self, place: bool) -> None:
        me = active.managed()
        self.owner = None
        self._real.release()
        if me is None:
            if active.controller is not None:
                active.controller.wake(self)
            return
        control = me.controller
        control.wake(self)
        key = "unlock:" + site.using(2)[0]
        control.used(self, me, key)
        (control.point_here if place else control.point)(me, key)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._release(place=error is None)  # the interpreter does not check where an exception leaves the block

    def locked(self) -> bool:
        return self._real.locked()

    acquire_lock, release_lock, locked_lock = acquire, release, locked

    def _at_fork_reinit(self) -> None:
        self._real = raw.allocate_lock()
        self.owner = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot pickle a lock")

    def __repr__(self) -> str:
        return f"<{'locked' if self.locked() else 'unlocked'} lock made at {self.born}>"
