"""The controller: one baton, given from thread to thread by a decider.

Invariant: of all managed threads only ``current`` runs Python code; the others are parked in their gate. All
fields below are therefore touched by one thread at a time and need no lock, and a finalizer that runs during a
collection may re-enter the controller through a cooperative lock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import active, collect, files, raw
from .actions import Action, Asked, Collect, Decider, HandOver
from .blocked import WaitReport, describe, in_c
from .blocked.look import look
from .dummy import forget_dummy
from .forks import Account, programs
from .forks import child as forked_child
from .frames import Frames
from .isolate import Isolation
from .made import Made
from .managed import Gate, Managed, Status, ThreadGate


class Abandoned(BaseException):
    """Unwinds a parked thread when its run is over (runs within one process only)."""


#: A time-out that expires only after all others.
NEVER = float("inf")


class Switch:
    """One hand-over or collection that happened, as a schedule would ask for it."""

    __slots__ = ("action", "forced", "key", "n", "position", "thread")

    def __init__(self, thread: int, key: str, n: int, action: Action, forced: bool, position: int) -> None:
        self.thread = thread
        self.key = key
        self.n = n
        self.action = action
        self.forced = forced  # the thread could not have gone on anyway
        self.position = position  # length of the log when it happened


class Controller:
    """Runs bodies one at a time.

    free     hand over right at the point, as a free-threaded interpreter could; otherwise only at places where
             this interpreter can give up the GIL
    observer called at every state access with (thread, keys, frame), for explanations
    """

    def __init__(self, decider: Decider, *, free: bool = False, observer: Any = None, backend: Any = None) -> None:
        self.decider = decider
        self.free = free
        self.observer = observer
        self.backend = backend
        self.isolation: Isolation | None = None
        self.frames: Frames | None = None
        #: with one body, each thread that it starts stands for itself: its own values, its own use of locks
        self.apart = False
        self.attached = False
        #: ids of locks with which threading starts and ends threads; that two threads use them is no news
        self.plumbing: set[int] = set()
        self.made = Made()
        #: those that wait for a file
        self.on_files: list[Managed] = []
        self.account = Account()
        #: in a forked child: its name, and which locks were in use at the fork
        self.forked: str | None = None
        self.locks_at_fork: frozenset[int] = frozenset()
        self.threads: list[Managed] = []
        self.by_name: dict[str, Managed] = {}
        self.by_ident: dict[int, Managed] = {}
        self.current: Managed | None = None
        #: (thread index, point, places passed by then) in order: the point sequence of the run.
        self.log: list[tuple[int, str, int]] = []
        self.switches: list[Switch] = []
        self.collections: list[collect.Collection] = []
        self.collected_itself = False  # the program made a full collection of its own
        self.postponed: list[collect.Collection] = []
        self.void: list[Asked] = []
        self.uncontrolled: list[str] = []
        self.deadlock: list[WaitReport] = []
        self.timed = False  # some thread waited with a time-out, or slept
        self.clock = 0.0
        self.abandoned = False
        self.finished = False
        #: told of every switch just before it happens: a run that never reports has told that much
        self.on_switch: Callable[[str, Switch], None] | None = None
        #: lock point -> which threads used a lock through it; lock id -> (threads, points)
        self.lock_use: dict[int, tuple[set[int], set[str], Any]] = {}
        self._done = raw.allocate_lock()
        self._done.acquire()

    # ---------------------------------------------------------------- set-up

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
        me.gate.wait()
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

    # ---------------------------------------------------------------- points and places

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

    def _note(self, me: Managed, key: str, n: int, action: Action, forced: bool) -> None:
        switch = Switch(me.index, key, n, action, forced, len(self.log))
        self.switches.append(switch)
        if self.on_switch is not None:
            self.on_switch(me.name, switch)

    def used(self, lock: Any, me: Managed, key: str) -> None:
        """Remember who uses which lock: only locks used by two threads make lock points worth a hand-over."""
        if id(lock) in self.plumbing:
            return
        if self.forked is not None:
            forked_child.uses(self, lock, me)
            return
        users, keys, _ = self.lock_use.setdefault(id(lock), (set(), set(), lock))
        users.add(me.root)
        keys.add(key)

    def contended(self) -> set[str]:
        for lock, root in self.account.used:
            if lock in self.lock_use:
                self.lock_use[lock][0].add(root)
        return {key for users, keys, _ in self.lock_use.values() if len(users) > 1 for key in keys}

    # ---------------------------------------------------------------- the baton

    def _give(self, me: Managed, to: Managed) -> None:
        if self.isolation is not None:
            self.isolation.switch(me.root, to.root)
        self.current = to
        to.gate.open()

    def _pass(self, me: Managed, to: Managed) -> None:
        self._give(me, to)
        me.gate.wait()
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
            me.gate.wait()
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
        ready = self._runnable()
        if ready:
            me.muted = True
            try:
                to = self.decider.pick(me, key, n, ready)
                if to is not ready[0]:
                    self._note(me, key, n, HandOver(to.name), forced=True)
            finally:
                me.muted = False
            return to
        timed = [other for other in self.threads if other.status is Status.BLOCKED and other.deadline is not None]
        if timed:
            to = min(timed, key=lambda other: (other.deadline, other.index))
            assert to.deadline is not None
            if to.deadline < NEVER:
                self.clock = max(self.clock, to.deadline)
            to.expired, to.status = True, Status.READY
            return to
        return None

    def end(self, me: Managed) -> None:
        if self.forked is not None and me is self.threads[0]:
            forked_child.leave(self, me)
        me.status = Status.ENDED
        self.by_ident.pop(me.ident, None)  # what the thread still finalizes as it goes is outside the run
        self.wake(me)
        if all(other.status is Status.ENDED for other in self.threads if not other.adopted):
            self._finish()
            return
        to = self._next(me, "end")
        if to is None:
            if not any(other.status is Status.IN_C for other in self.threads):
                self.stop_deadlocked()
            return
        self._give(me, to)

    def _finish(self) -> None:
        self.finished = True
        self.current = None
        if self.isolation is not None:
            self.isolation.end()
        self._done.release()

    def stop_deadlocked(self) -> None:
        self.deadlock = [describe(other) for other in self.threads if other.status is not Status.ENDED]
        if self.forked is not None:
            forked_child.deadlocked(self)
        self._finish()

    def rejoin(self, me: Managed) -> None:
        """``me`` came back from C and has no baton: wait for it like everyone."""
        if self.finished or self.abandoned:
            me.gate.wait()
            raise Abandoned
        me.status = Status.READY
        if self.current is None or self.current.status in (Status.ENDED, Status.BLOCKED, Status.IN_C):
            self.current = me
            return
        me.gate.wait()
        if self.abandoned:
            raise Abandoned

    # ---------------------------------------------------------------- the end of a run in one process

    def abandon(self) -> None:
        """Unwind every parked thread, one after the other as the interpreter likes."""
        self.abandoned = True
        for other in self.threads:
            if other.status is not Status.ENDED:
                other.gate.open()
