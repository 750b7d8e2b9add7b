"""The controller of one of the processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.control import files, raw, semaphores
from harness.control.actions import Asked, Collect, Decider, HandOver
from harness.control.blocked import WaitReport
from harness.control.controller import Controller, Switch
from harness.control.managed import Managed, Status, ThreadGate
from harness.run import wire
from harness.schedule.schedule import action_of

from . import waits
from .way import Way

IN_VAIN = 1000  # time-outs in a row, between which no body woke another: each waits for what the others can't give it
NOWHERE = -1  # the process that only begins the run and ends it


class RemoteController(Controller):
    """``process``: whose threads run here, those that descend from the body of that index."""

    def __init__(self, decider: Decider, process: int, done_fd: int, ways: list[Way], **options: Any) -> None:
        super().__init__(decider, **options)
        self.process = process
        self.done_fd = done_fd
        self.ways = ways
        #: of each body that has ended, what its process leaves: result, findings, unused directives, accesses
        self.left: dict[str, dict[str, Any]] = {}
        #: brings that up to date at the end of a thread here
        self.leave: Callable[[], None] = lambda: None
        #: how much of the log each process has: it is sent the rest, since the whole at every hand-over would be quadratic
        self.known = [0] * len(ways)
        self.common = semaphores.living()
        #: of threads elsewhere, by index: what they wait for, in the words of their process
        self.waits: dict[int, waits.Told] = {}
        #: some body started a process, which may wake others too
        self.outside = False
        #: time-outs in a row, up to ``IN_VAIN``, where the run ends
        self.in_vain = 0
        for index, way in enumerate(ways):
            way.control = self
            self.add(f"T{index}", index, way)

    def _here(self, other: Managed) -> bool:
        return other.root == self.process

    def child_of(self, parent: Managed) -> Managed:
        if isinstance(parent.gate, Way):  # until now it has been the only one here
            parent.gate = ThreadGate()
            if self.forked is None:
                raw.start_new_thread(self.ways[self.process].pass_on, ())
        return super().child_of(parent)

    def end(self, me: Managed) -> None:
        self.leave()
        super().end(me)

    def dump(self, to: int | None = None) -> dict[str, Any]:
        """For process ``to``; None is the one that has nothing yet."""
        begin = self.known[to] if to is not None else 0
        if self.process != NOWHERE:
            self.known[self.process] = len(self.log)
        return {
            "begin": begin,
            "log": self.log[begin:],
            "known": self.known,
            "switches": [[s.thread, s.key, s.n, _named(s.action), s.forced, s.position] for s in self.switches],
            "choices": self.choices,
            "void": len(self.void),
            "clock": self.clock,
            "current": self.current.index if self.current is not None else -1,
            "born": [[t.name, t.root, t.acts_for, t.kept] for t in self.threads[len(self.ways) :]],
            "threads": [
                [t.status.value, t.deadline, t.expired, t.where, t.blocked_name, self._told(t)] for t in self.threads
            ],
            "outside": self.outside or bool(self.account.own),
            "decider": self.decider.dump() if hasattr(self.decider, "dump") else None,
            "left": self.left,
            "deadlock": [vars(wait) for wait in self.deadlock],
            "in_vain": self.in_vain,
        }

    def load(self, state: dict[str, Any]) -> None:
        self.log[state["begin"] :] = [(thread, key, place) for thread, key, place in state["log"]]
        self.known = state["known"]
        self.switches = [Switch(t, k, n, action_of(a), f, p) for t, k, n, a, f, p in state["switches"]]
        self.choices = [(at, chosen, others) for at, chosen, others in state["choices"]]
        self.void = [Asked(HandOver(""), "", 0)] * state["void"]
        self.clock = state["clock"]
        for name, root, acts_for, kept in state["born"][len(self.threads) - len(self.ways) :]:
            born = self.add(name, root, self.ways[root])
            born.acts_for, born.kept, born.adopted = acts_for, kept, True
        self.current = self.threads[state["current"]] if state["current"] >= 0 else None
        self.on_files = [thread for thread in self.on_files if self._here(thread)]
        for thread, (status, deadline, expired, where, name, told) in zip(self.threads, state["threads"], strict=True):
            thread.status, thread.deadline, thread.expired = Status(status), deadline, expired
            if not self._here(thread):
                self.waits[thread.index] = told
                thread.where, thread.blocked_name, thread.waiting = where, name, waits.heard(told, self.common)
                if isinstance(thread.waiting, files.Readiness):
                    self.on_files.append(thread)
        self.outside = state["outside"]
        if state["decider"] is not None:
            self.decider.load(state["decider"])  # type: ignore[attr-defined]
        self.left = state["left"]
        self.deadlock = [WaitReport(**wait) for wait in state["deadlock"]]
        self.in_vain = state["in_vain"]

    def _told(self, thread: Managed) -> waits.Told:
        if thread.waiting is None or self._here(thread):
            return waits.told(thread.waiting, self.common)
        return self.waits[thread.index]

    def _runnable(self) -> list[Managed]:
        if self.outside or self.account.own:
            return super()._runnable()
        files.look(self)
        return [other for other in self.threads if other.status is Status.READY]

    def _next(self, me: Managed, key: str) -> Managed | None:
        to = super()._next(me, key)
        self.in_vain = self.in_vain + 1 if to is not None and to.expired else 0
        return to if self.in_vain < IN_VAIN else None  # as where none can go on

    def _finish(self) -> None:
        self.finished = True
        self.current = None
        wire.write(self.done_fd, self.dump())


def _named(action: HandOver | Collect) -> str:
    return action.target if isinstance(action, HandOver) else f"gc{action.generation}"
