"""The baton: who has it, who waits for what, and who is next.

Time is virtual: a time-out expires only where no other thread can run.
"""

from __future__ import annotations

from typing import Any

from . import files
from .actions import HandOver
from .blocked import describe
from .forks import child as forked_child
from .forks import programs
from .managed import Managed, Status
from .record import Record


class Abandoned(BaseException):
    """Unwinds a parked thread when its run is over (runs within one process only)."""


#: A time-out that expires only after all others.
NEVER = float("inf")


def _goes_on(me: Managed) -> bool:
    """Would the process wait for it at its end, and can it go on? A pool's idle worker cannot."""
    return me.kept and (me.status is Status.READY or (me.status is Status.BLOCKED and me.deadline not in (None, NEVER)))


class Baton(Record):
    def _give(self, me: Managed, to: Managed) -> None:
        if self.isolation is not None:
            self.isolation.switch(me.root, to.root)
        self.current = to
        to.gate.open()

    def _pass(self, me: Managed, to: Managed) -> None:
        self._give(me, to)
        me.park()
        if self.abandoned:
            raise Abandoned

    def block(self, me: Managed, what: Any, name: str, where: str, timeout: float | None = None) -> bool:
        """Park ``me`` until it is woken; ``name`` is stable, ``where`` for people. False: its time-out came first.

        Time is virtual: a time-out expires only when no other thread can run.
        """
        if self.current is not me:
            self.rejoin(me)
        me.status, me.waiting, me.where, me.blocked_name = Status.BLOCKED, what, where, name
        me.deadline = None if timeout is None else self.clock + max(timeout, 0.0)
        self.timed = self.timed or timeout not in (None, NEVER)
        me.expired = False
        to = self._next(me, "block:" + name)
        if to is None:
            self.stop_deadlocked()
            me.park()
            raise Abandoned
        if to is not me:
            self._pass(me, to)
        me.status, me.waiting, me.deadline = Status.READY, None, None
        return not me.expired

    def wake(self, what: Any) -> None:
        """Those who wait for ``what`` may try again."""
        for other in self.threads:
            if other.waiting is what and other.status is Status.BLOCKED:
                other.status, other.waiting = Status.READY, None

    def _runnable(self) -> list[Managed]:
        if self.on_files:
            files.look(self)
        ready = [other for other in self.threads if other.status is Status.READY]
        if not ready and self.on_files and files.wait(self):
            return self._runnable()
        if not ready and programs.go_on(self):
            return self._runnable()
        return ready

    def _next(self, me: Managed, key: str) -> Managed | None:
        n = me.counts[key] = me.counts.get(key, 0) + 1
        self.log.append((me.index, key, me.places))
        for item in me.pending:  # asked for, and now the thread cannot go on: this is the place
            if isinstance(item.action, HandOver):
                target = self.by_name.get(item.action.target)
                if target is not None and target is not me and target.status is Status.READY:
                    me.pending = []
                    self._note(me, item.key, item.n, item.action, forced=False)
                    return target
            self.void.append(item)
        me.pending = []
        ready = self._runnable() or self._expired()
        if ready:
            me.muted = True
            try:
                to = self.decider.pick(me, key, n, ready)
                if len(ready) > 1:
                    self.choices.append((len(self.log) - 1, to.index, [other.index for other in ready if other is not to]))
                if to is not ready[0]:
                    self._note(me, key, n, HandOver(to.name), forced=True)
            finally:
                me.muted = False
            return to
        return None

    def _expired(self) -> list[Managed]:
        """Those whose time-out is the next to expire: that is now, since nobody can run."""
        timed = [other for other in self.threads if other.status is Status.BLOCKED and other.deadline is not None]
        if not timed:
            return []
        earliest = min(other.deadline or 0.0 for other in timed)
        if earliest < NEVER:
            self.clock = max(self.clock, earliest)
            timed = [other for other in timed if (other.deadline or 0.0) == earliest]
        else:
            timed = timed[:1]
        for other in timed:
            other.expired, other.status = True, Status.READY
        return timed

    def end(self, me: Managed) -> None:
        if self.forked is not None and me is self.threads[0]:
            forked_child.leave(self, me)
        me.status = Status.ENDED
        self.by_ident.pop(me.ident, None)  # what the thread still finalizes as it goes is outside the run
        self.wake(me)
        if not self._bodies_left() and not any(_goes_on(other) for other in self.threads):
            self._finish()
            return
        to = self._next(me, "end")
        if to is None:
            if not any(other.status is Status.IN_C for other in self.threads):
                self.stop_deadlocked()
            return
        self._give(me, to)

    def _bodies_left(self) -> bool:
        return any(other.status is not Status.ENDED for other in self.threads if not other.adopted)

    def _finish(self) -> None:
        self.finished = True
        self.current = None
        if self.isolation is not None:
            self.isolation.end()
        self._done.release()

    def stop_deadlocked(self) -> None:
        if self.forked is None and not self._bodies_left():
            self._finish()  # a worker that nobody has ended waits for work
            return
        self.deadlock = [describe(other) for other in self.threads if other.status is not Status.ENDED]
        if self.forked is not None:
            forked_child.deadlocked(self)
        self._finish()

    def rejoin(self, me: Managed) -> None:
        """``me`` came back from C and has no baton: wait for it like everyone."""
        if self.finished or self.abandoned:
            me.park()
            raise Abandoned
        me.status = Status.READY
        if self.current is None or self.current.status in (Status.ENDED, Status.BLOCKED, Status.IN_C):
            self.current = me
            return
        me.park()
        if self.abandoned:
            raise Abandoned

    def abandon(self) -> None:
        """Unwind every parked thread, one after the other as the interpreter likes."""
        self.abandoned = True
        for other in self.threads:
            if other.status is not Status.ENDED:
                other.gate.open()
