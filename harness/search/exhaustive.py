"""Bounded exhaustive search: every schedule with at most ``bound`` preemptions at points worth one.

Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded Programs" (PLDI 2007).
Schedules with one preemption come before those with two. A run's own points, behind its last preemption, give its
successors; when the conflicting states grow, every run is looked at again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from harness.control.actions import HandOver
from harness.run.report import Report
from harness.schedule.schedule import Directive

from .knowledge import Candidate, state_of
from .strategy import Ground, Proposal


class Exhaustive:
    name = "exhaustive"
    share = 0.35

    def __init__(self, ground: Ground, bound: int = 2, least: int = 2) -> None:
        self.ground = ground
        self.bound = bound
        self.least = least
        self._runs: list[tuple[Proposal, Report]] = []
        self._queues: list[deque[Proposal]] = [deque() for _ in range(bound + 1)]
        self._hot: deque[Proposal] = deque()  # a write seen half-way, and the other thread stopped at that same state
        self._proposed: set[tuple[object, ...]] = set()
        self._version = -1
        self.done: list[int] = [0] * (bound + 1)  # schedules run, by number of preemptions
        self.running = 0

    def told(self, proposal: Proposal, report: Report) -> None:
        if proposal.strategy == "control":
            self.done[0] += 1
        elif proposal.strategy == self.name:
            self.running -= 1
            self.done[len(proposal.schedule.directives)] += 1
        else:
            return
        self._runs.append((proposal, report))
        if self._version != self.ground.knowledge.version:
            self._version = self.ground.knowledge.version
            for old in self._runs:
                self._expand(*old)
        else:
            self._expand(proposal, report)

    def _expand(self, proposal: Proposal, report: Report) -> None:
        schedule = proposal.schedule
        used = len(schedule.directives)
        if used >= self.bound:
            return
        since = report.switches[-1][2] if report.switches and used else 0
        for point in self._in_order(report, since):
            for target in report.threads:
                if target == point.thread:
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

        yield from sorted(self.ground.knowledge.candidates(report, since, self.least), key=rank)

    def next(self) -> Proposal | None:
        for queue in (self._hot, *self._queues):
            if queue:
                self.running += 1
                return queue.popleft()
        return None

    def complete(self) -> int:
        """The largest number of preemptions for which every schedule there is has been run."""
        if self.running:
            return 0 if not self._queues[1] else -1
        for count in range(1, self.bound + 1):
            if self._queues[count] or (count == 2 and self._hot):
                return count - 1
        return self.bound


def _same_state(one: str, other: str) -> bool:
    state = state_of(one)
    return state is not None and one.startswith("write:") and state == state_of(other)
