"""Points and places: what a directive asks for at a point happens at the next place."""

from __future__ import annotations

from . import collect, files
from .actions import Asked, Collect
from .baton import Baton
from .managed import Managed, Status


class Passing(Baton):
    def point(self, me: Managed, key: str) -> None:
        """``me`` has passed point ``key``; what is asked for here happens at the next place."""
        if self.current is not me:
            self.rejoin(me)
        if self.on_files:
            files.look(self)
        n = me.counts[key] = me.counts.get(key, 0) + 1
        self.log.append((me.index, key, me.places))
        if me.pending:  # those of the same point, and no place in between, can't be had any more
            self.void += [item for item in me.pending if item.key == key]
            me.pending = [item for item in me.pending if item.key != key]
        me.muted = True  # at a lock the decider is called where its own code would be seen
        try:
            me.pending += [Asked(action, key, n) for action in self.decider.at(me, key, n)]
        finally:
            me.muted = False
        if self.free and me.pending:
            self._perform(me)

    def place(self, me: Managed) -> None:
        """The interpreter could give up the GIL here."""
        me.places += 1
        if me.pending:
            self._perform(me)

    def point_here(self, me: Managed, key: str) -> None:
        """A point that is a place itself."""
        self.place(me)
        self.point(me, key)
        if me.pending:
            self._perform(me)

    def _perform(self, me: Managed) -> None:
        if self.current is not me:
            self.rejoin(me)
        asked, me.pending = me.pending, []
        for item in asked:
            if isinstance(item.action, Collect):
                self._note(me, item.key, item.n, item.action, forced=False)
                collect.directed(self, me, item.key, item.n, item.action.generation)
                continue
            to = self.by_name.get(item.action.target)
            if to is None or to is me or to.status is not Status.READY:
                self.void.append(item)
                continue
            self._note(me, item.key, item.n, item.action, forced=False)
            self._pass(me, to)

    def collect_postponed(self, me: Managed) -> None:
        """The program has put the collector on again: what waited for that takes place."""
        while self.postponed and not self.finished:
            made = self.postponed.pop(0)
            made.at, made.waited_for = len(self.log), me.name
            collect.perform(self, me, made)
