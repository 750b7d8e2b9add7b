"""Random hand-overs at few points: a run that is known, and one hand-over more behind its last.

What comes before the new hand-over is what that run showed, so that the point is there and the target can run: that is
what keeps few proposals void.
"""

from __future__ import annotations

from dataclasses import replace

from harness.control.actions import HandOver
from harness.run.report import Report
from harness.schedule.schedule import Directive, Schedule

from .knowledge import ends
from .strategy import Ground, Proposal
from .turn import Turn

_TRIES = 40
_MOST_DIRECTIVES = 3
_KEPT = 64  # runs that are extended


class FewPoints:
    name = "random"
    share = 0.3

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._controls: list[tuple[Schedule, Report]] = []
        self._switched: list[tuple[Schedule, Report]] = []
        self._turn = Turn()

    def told(self, proposal: Proposal, report: Report) -> None:
        news = self._turn.saw(report.digest, proposal.strategy == self.name)
        if proposal.strategy == "control":
            self._controls.append((proposal.schedule, report))
        elif news and 0 < len(report.directives) < _MOST_DIRECTIVES and len(self._switched) < _KEPT:
            self._switched.append((proposal.schedule.with_directives(report.directives), report))

    def next(self) -> Proposal | None:
        if self._turn.over or not self._controls:
            return None
        for _ in range(_TRIES):
            proposal = self._draw()
            if proposal is not None and not self.ground.made(proposal):
                self._turn.proposed()
                return proposal
        return None

    def _draw(self) -> Proposal | None:
        random, knowledge = self.ground.random, self.ground.knowledge
        further = bool(self._switched) and random.random() < 0.35
        schedule, report = random.choice(self._switched if further else self._controls)
        since = report.switches[-1][2] if report.switches else 0
        hot = 0.9 if knowledge.states() else 0.5  # locks and markers alone are not where everything happens
        points = list(knowledge.candidates(report, since, least=2)) if random.random() < hot else []
        if points:
            point = random.choice(points)
        else:
            points = list(knowledge.candidates(report, since))
            if not points:
                return None
            # rather late: who has only just begun has shared nothing yet
            point = points[max(random.randrange(len(points)), random.randrange(len(points)))]
        others = [name for name, end in ends(report).items() if name != point.thread and end > point.position]
        if not others:
            return None
        directive = Directive(point.thread, point.point, point.n, HandOver(random.choice(others)))
        return Proposal(replace(schedule, directives=(*schedule.directives, directive)), self.name)
