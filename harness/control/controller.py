"""The controller: one baton, given from thread to thread by a decider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import active, collect, raw
from .baton import NEVER, Abandoned
from .blocked import in_c
from .blocked.look import look
from .dummy import forget_dummy
from .locks.use import LockUse
from .managed import Gate, Managed, ThreadGate
from .passing import Passing
from .switch import Switch

__all__ = ["NEVER", "Abandoned", "Controller", "Switch"]


class Controller(Passing, LockUse):
    """Runs bodies one at a time. What it knows is its :class:`~harness.control.record.Record`."""

    def add(self, name: str, root: int, gate: Gate | None = None) -> Managed:
        me = Managed(self, len(self.threads), name, root, gate or ThreadGate())
        self.threads.append(me)
        self.by_name[name] = me
        return me

    def run(self, bodies: Sequence[Callable[[], Any]], first: int, start: Callable[[Managed], None]) -> None:
        """Run ``bodies`` to their end, thread ``first`` first; ``start(me)`` launches one. Called by main."""
        self.apart = len(bodies) == 1
        for index, body in enumerate(bodies):
            me = self.add(f"T{index}", index)
            me.body = body
        active.controller = self
        before = collect.full_ones()
        try:
            for me in list(self.threads):
                start(me)
            self.current = self.threads[first]
            self.current.gate.open()
            self.watch()
            directed = sum(made.generation == collect.FULL and made.until >= 0 for made in self.collections)
            self.collected_itself = collect.full_ones() - before > directed
        finally:
            self.finished = True
            active.controller = None

    def watch(self) -> None:
        """Return when the run is over, its forked children too; meanwhile see whether the running thread is blocked in C."""
        looks = in_c.Looks()
        while not self._done.acquire(True, 0.05):
            look(self, looks)
        self.account.close()
        self.deadlock += self.account.deadlocked()

    def child_of(self, parent: Managed) -> Managed:
        """A record for a thread that ``parent`` starts, or that C code starts in its place."""
        parent.born_count += 1
        root = len(self.threads) if self.apart else parent.root
        me = self.add(f"{parent.name}.{parent.born_count}", root)
        me.adopted = True
        return me

    def live(self, me: Managed) -> Any:
        """The life of a managed thread, from the first baton to the last. Never raises."""
        me.ident = raw.get_ident()
        me.native_id = raw.get_native_id()
        self.by_ident[me.ident] = me
        me.park()
        try:
            if self.abandoned:
                return None
            if self.backend is not None:
                self.backend.enter(self, me)
            try:
                assert me.body is not None
                me.result = me.body()
            finally:
                if self.backend is not None:
                    self.backend.leave(me)
                if not self.abandoned:
                    forget_dummy()
        except Abandoned:
            return None
        except BaseException as error:
            me.error, me.error_at = error, len(self.log)
        if not self.abandoned:
            self.end(me)
        return me.result
