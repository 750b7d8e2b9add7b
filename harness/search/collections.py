"""One garbage collection at every point in turn, in every start order: does the outcome depend on GC timing?"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from harness.control.actions import Collect
from harness.run.report import Report
from harness.schedule.schedule import Directive

from .strategy import Ground, Proposal

_GENERATION = 2  # a full collection takes with it what a younger one would


class Collections:
    name = "gc"
    share = 0.15

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._queue: deque[Proposal] = deque()
        self._proposed: set[tuple[object, ...]] = set()

    def told(self, proposal: Proposal, report: Report) -> None:
        if proposal.strategy != "control":
            return
        points = list(self.ground.knowledge.candidates(report))
        self.ground.random.shuffle(points)
        for point in points:
            directive = Directive(point.thread, point.point, point.n, Collect(_GENERATION))
            new = Proposal(replace(proposal.schedule, directives=(directive,)), self.name)
            if new.key not in self._proposed:
                self._proposed.add(new.key)
                self._queue.append(new)

    def next(self) -> Proposal | None:
        return self._queue.popleft() if self._queue else None
