"""Bounded exhaustive search: every schedule with at most ``bound`` preemptions at points worth one.

Who goes on where a thread waits or ends, and several could, is a choice too; one that departs from the default rule counts as
a preemption does, since it is a directive like those.

Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded Programs" (PLDI 2007).
Schedules with one preemption come before those with two. A run's own points, behind its last preemption, give its
successors; when the conflicting states grow, every run is looked at again. Not run, since it could show nothing new: a
hand-over to a thread that has ended, the successors of a run that another schedule made already, and a schedule that
another strategy has run (its report is taken as it is).

Every schedule has its turn, so their order decides only how soon something is found. A program passes some points
thousands of times and others once, so each state's first accesses come before all others' second.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple

from harness.control.actions import HandOver
from harness.run.report import Report
from harness.schedule.schedule import Directive

from .knowledge import Candidate, ends, state_of
from .strategy import Ground, Proposal

Key = tuple[object, ...]
_HALF_WAY = 2  # accesses at which a thread that has seen another's write half-way is stopped before all else


class _Next(NamedTuple):
    """A successor, smallest first: what kind of point, how many-eth passing of it in the run, as it was met."""

    rank: int
    passing: int
    met: int
    run: int
    point: Candidate
    target: str


class Exhaustive:
    name = "exhaustive"
    share = 0.3

    def __init__(self, ground: Ground, bound: int = 2, least: int = 2) -> None:
        self.ground = ground
        self.bound = bound
        self.least = least
        self._runs: list[tuple[Proposal, Report]] = []  # those that may still have successors
        self._unexpanded: list[deque[int]] = [deque() for _ in range(bound)]  # of these, by number of preemptions
        self._queues: list[list[_Next]] = [[] for _ in range(bound + 1)]
        self._hot: deque[Proposal] = deque()  # a write seen half-way, and the other thread stopped at that same state
        self._proposed: set[Key] = set()
        self._awaited: dict[Key, Proposal] = {}  # ours, and those that another strategy has in flight
        self._digests: dict[str, int] = {}  # of runs expanded: with how few directives
        self._version = -1
        self._met = 0
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
            self._queues = [[] for _ in self._queues]
            self._unexpanded = [deque() for _ in self._unexpanded]
            for index, (earlier, _) in enumerate(self._runs):
                self._unexpanded[len(earlier.schedule.directives)].append(index)
        elif news:
            self._unexpanded[used].append(len(self._runs) - 1)
        if news:
            self._stop_half_way(len(self._runs) - 1)
            self._keep_stopped(len(self._runs) - 1)

    def _stop_half_way(self, index: int) -> None:
        """Successors are made when it is their turn; those at the state that was written last are of use at once."""
        directives = self._runs[index][0].schedule.directives
        if not directives or not directives[-1].point.startswith("write:"):
            return
        state = state_of(directives[-1].point)
        for successor in self._successors(index):
            if state_of(successor.point.point) == state and successor.passing < _HALF_WAY:
                new = self._proposal(successor)
                if new.key not in self._proposed:
                    self._proposed.add(new.key)
                    self._hot.append(new)

    def _keep_stopped(self, index: int) -> None:
        """The thread that was stopped would go on as soon as another waits: the others that could are of use at once."""
        proposal, report = self._runs[index]
        if not proposal.schedule.directives or not report.switches or report.switches[-1][1]:
            return
        stopped, since = proposal.schedule.directives[-1].thread, report.switches[-1][2]
        first = next((at for at, chosen, _ in report.choices if at >= since and chosen == stopped), None)
        for successor in self._choices(index, since):
            if successor.point.position == first:
                new = self._proposal(successor)
                if new.key not in self._proposed:
                    self._proposed.add(new.key)
                    self._hot.append(new)

    def _choices(self, index: int, since: int) -> Iterator[_Next]:
        report = self._runs[index][1]
        others = {at: others for at, _, others in report.choices if at >= since}
        if not others:
            return
        for position, (thread, point, n, _) in enumerate(report.passes()):
            for target in others.get(position, ()):
                self._met += 1
                yield _Next(2, 0, self._met, index, Candidate(thread, point, n, position), target)

    def _successors(self, index: int) -> Iterator[_Next]:
        proposal, report = self._runs[index]
        since = report.switches[-1][2] if report.switches and proposal.schedule.directives else 0
        lives = ends(report)
        yield from self._choices(index, since)
        points = list(self.ground.knowledge.candidates(report, since, self.least))
        if self.least < 2:
            points.reverse()  # who has only just begun has shared nothing yet
        passed: Counter[tuple[str, str]] = Counter()
        for point in points:
            passing, rank = passed[point.thread, point.point], self._rank(point)
            passed[point.thread, point.point] += 1
            for target, end in lives.items():
                if target != point.thread and end > point.position:
                    self._met += 1
                    yield _Next(rank, passing if self.least >= 2 else 0, self._met, index, point, target)

    def _rank(self, point: Candidate) -> int:
        """Points behind a write first, those of saved and restored states before all: what a thread will take back is what
        others must not see."""
        if not point.point.startswith("write:"):
            return 2
        return 0 if state_of(point.point) in self.ground.restored else 1

    def _proposal(self, successor: _Next) -> Proposal:
        schedule, point = self._runs[successor.run][0].schedule, successor.point
        directive = Directive(point.thread, point.point, point.n, HandOver(successor.target))
        return Proposal(replace(schedule, directives=(*schedule.directives, directive)), self.name)

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
        if self._hot:
            return self._hot.popleft()
        for preemptions, queue in enumerate(self._queues):
            while queue or (preemptions and self._refill(preemptions)):
                new = self._proposal(heappop(queue))
                if new.key not in self._proposed:
                    self._proposed.add(new.key)
                    return new
        return None

    def _refill(self, preemptions: int) -> bool:
        """All runs without a preemption at once, so that none waits for another's thousands; of others one after the other."""
        queue, waiting = self._queues[preemptions], self._unexpanded[preemptions - 1]
        while waiting and (preemptions == 1 or not queue):
            for successor in self._successors(waiting.popleft()):
                heappush(queue, successor)
        return bool(queue)

    def complete(self) -> int:
        """The largest number of preemptions for which every schedule there is has been run."""
        open_ = [len(proposal.schedule.directives) for proposal in (*self._awaited.values(), *self._hot)]
        open_ += [count for count, queue in enumerate(self._queues) if queue]
        open_ += [count + 1 for count, runs in enumerate(self._unexpanded) if runs]
        return min(open_, default=self.bound + 1) - 1 if self.done[0] else -1
