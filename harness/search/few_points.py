"""Random hand-overs at few points: one to three, drawn among those worth it."""

from __future__ import annotations

from dataclasses import replace

from harness.control.actions import HandOver
from harness.run.report import Report
from harness.schedule.schedule import Directive

from .strategy import MOST, STALE, Ground, Proposal

_TRIES = 40


class FewPoints:
    name = "random"
    share = 0.35

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._reports: list[Report] = []
        self._seen: set[tuple[object, ...]] = set()
        self._digests: set[str] = set()
        self._stale = 0
        self._made = 0

    def told(self, proposal: Proposal, report: Report) -> None:
        self._seen.add(proposal.key)
        if proposal.strategy == self.name:
            self._stale = self._stale + 1 if report.digest in self._digests else 0
        self._digests.add(report.digest)
        if proposal.strategy == "control" or (report.switches and len(self._reports) < 64):
            self._reports.append(report)

    def next(self) -> Proposal | None:
        if self._stale >= STALE or self._made >= MOST:
            return None
        random, base = self.ground.random, self.ground.base
        for _ in range(_TRIES):
            if not self._reports:
                return None
            report = random.choice(self._reports)
            least = 2 if random.random() < 0.8 else 1
            points = list(self.ground.knowledge.candidates(report, least=least))
            points = points or list(self.ground.knowledge.candidates(report))
            if not points:
                continue
            count = min(len(points), random.choice((1, 1, 1, 2, 2, 3)))
            directives = []
            for point in sorted(random.sample(points, count), key=lambda candidate: candidate.position):
                others = [name for name in report.threads if name != point.thread]
                if others:
                    directives.append(Directive(point.thread, point.point, point.n, HandOver(random.choice(others))))
            first = random.randrange(base.threads)
            proposal = Proposal(replace(base, first=first, directives=tuple(directives)), self.name)
            if directives and proposal.key not in self._seen:
                self._seen.add(proposal.key)
                self._made += 1
                return proposal
        return None
