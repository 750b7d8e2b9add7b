"""A ``threading.RLock`` under control, with what ``Condition`` asks of one."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from .. import raw
from .lock import CoopLock


class CoopRLock:
    """Reentrant mutual exclusion: one inner lock, its owner's ident and a count."""

    __slots__ = ("__weakref__", "_block", "_count", "_owner")

    def __init__(self) -> None:
        self._block = CoopLock()
        self._owner = 0
        self._count = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        me = raw.get_ident()
        if self._owner == me:
            self._count += 1
            return True
        got = self._block.acquire(blocking, timeout)
        if got:
            self._owner, self._count = me, 1
        return got

    def __enter__(self) -> bool:
        me = raw.get_ident()
        if self._owner == me:
            self._count += 1
            return True
        self._block.__enter__()
        self._owner, self._count = me, 1
        return True

    def release(self) -> None:
        self._release(place=True)

    def _release(self, place: bool) -> None:
        if self._owner != raw.get_ident():
            raise RuntimeError("cannot release un-acquired lock")
        self._count -= 1
        if not self._count:
            self._owner = 0
            self._block._release(place)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._release(place=error is None)

    def locked(self) -> bool:
        return self._count > 0

    def _is_owned(self) -> bool:
        return self._owner == raw.get_ident()

    def _recursion_count(self) -> int:
        return self._count if self._is_owned() else 0

    def _release_save(self) -> tuple[int, int]:
        if not self._count:
            raise RuntimeError("cannot release un-acquired lock")
        state, self._count, self._owner = (self._count, self._owner), 0, 0
        self._block.release()
        return state

    def _acquire_restore(self, state: tuple[int, int]) -> None:
        self._block.acquire()
        self._count, self._owner = state

    def _at_fork_reinit(self) -> None:
        self._block._at_fork_reinit()
        self._owner = self._count = 0

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot pickle a lock")

    def __repr__(self) -> str:
        return f"<{'locked' if self._count else 'unlocked'} rlock made at {self._block.born}, count={self._count}>"
