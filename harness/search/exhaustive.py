"""Bounded exhaustive search: every schedule with at most ``bound`` preemptions at points worth one.

Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded Programs" (PLDI 2007).
Schedules with one preemption come before those with two. A run's own points, behind its last preemption, give its
successors; when the conflicting states grow, every run is looked at again. Not run, since it could show nothing new: a
hand-over to a thread that has ended, the successors of a run that another schedule made already, and a schedule that
another strategy has run (its report is taken as it is).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from harness.control.actions import HandOver
from harness.run.report import Report
from harness.schedule.schedule import Directive

from .knowledge import Candidate, ends, state_of
from .strategy import Ground, Proposal

Key = tuple[object, ...]


class Exhaustive:
    name = "exhaustive"
    share = 0.3

    def __init__(self, ground: Ground, bound: int = 2, least: int = 2) -> None:
        self.ground = ground
        self.bound = bound
        self.least = least
        self._runs: list[tuple[Proposal, Report]] = []  # those that may still have successors
        self._queues: list[deque[Proposal]] = [deque() for _ in range(bound + 1)]
        self._hot: deque[Proposal] = deque()  # a write seen half-way, and the other thread stopped at that same state
        self._proposed: set[Key] = set()
        self._awaited: dict[Key, Proposal] = {}  # ours, and those that another strategy has in flight
        self._digests: dict[str, int] = {}  # of runs expanded: with how few directives
        self._version = -1
        self.done: list[int] = [0] * (bound + 1)  # schedules run, by number of preemptions

    def told(self, proposal: Proposal, report: Report) -> None:
        key = proposal.key
        if proposal.strategy == "control":
            self._take(proposal, report)
        elif key in self._awaited:
            self._take(self._awaited.pop(key), report)

    def _take(self, proposal: Proposal, report: Report | None) -> None:
        used = len(proposal.schedule.directives)
        self.done[used] += 1
        if report is None:  # no longer kept, since it has no successors
            return
        news = used < self._digests.get(report.digest, self.bound)
        if news:
            self._digests[report.digest] = used
            self._runs.append((proposal, report))
        if self._version != self.ground.knowledge.version:
            self._version = self.ground.knowledge.version
            for old in self._runs:
                self._expand(*old)
        elif news:
            self._expand(proposal, report)

    def _expand(self, proposal: Proposal, report: Report) -> None:
        schedule = proposal.schedule
        used = len(schedule.directives)
        since = report.switches[-1][2] if report.switches and used else 0
        lives = ends(report)
        for point in self._in_order(report, since):
            for target, end in lives.items():
                if target == point.thread or end <= point.position:
                    continue
                directive = Directive(point.thread, point.point, point.n, HandOver(target))
                new = Proposal(replace(schedule, directives=(*schedule.directives, directive)), self.name)
                if new.key not in self._proposed:
                    self._proposed.add(new.key)
                    hot = used and _same_state(schedule.directives[-1].point, point.point)
                    (self._hot if hot else self._queues[used + 1]).append(new)

    def _in_order(self, report: Report, since: int) -> Iterator[Candidate]:
        """Points behind a write first, those of saved and restored states before all: what a thread will take back
        is what others must not see."""
        restored = self.ground.restored

        def rank(point: Candidate) -> int:
            if not point.point.startswith("write:"):
                return 2
            return 0 if state_of(point.point) in restored else 1

        points = list(self.ground.knowledge.candidates(report, since, self.least))
        if self.least < 2:
            points.reverse()  # who has only just begun has shared nothing yet
        yield from sorted(points, key=rank)

    def next(self) -> Proposal | None:
        while (proposal := self._pop()) is not None:
            key = proposal.key
            if key in self.ground.ran:
                self._take(proposal, self.ground.ran[key])
                continue
            self._awaited[key] = proposal
            if key not in self.ground.flying:
                return proposal
        return None

    def _pop(self) -> Proposal | None:
        for queue in (self._hot, *self._queues):
            if queue:
                return queue.popleft()
        return None

    def complete(self) -> int:
        """The largest number of preemptions for which every schedule there is has been run."""
        open_ = [len(proposal.schedule.directives) for proposal in (*self._awaited.values(), *self._hot)]
        open_ += [count for count, queue in enumerate(self._queues) if queue]
        return min(open_, default=self.bound + 1) - 1 if self.done[0] else -1


def _same_state(one: str, other: str) -> bool:
    state = state_of(one)
    return state is not None and one.startswith("write:") and state == state_of(other)
