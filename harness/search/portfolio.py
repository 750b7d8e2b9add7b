"""Several strategies side by side, each with its share; what one learns, all know."""

from __future__ import annotations

from dataclasses import replace

from harness.errors import UserError
from harness.run.report import Report

from .collections import Collections
from .exhaustive import Exhaustive
from .few_points import FewPoints
from .pct import PCT
from .strategy import Ground, Proposal, Strategy

STRATEGIES = ("portfolio", "random", "pct", "exhaustive", "gc")


def strategies(ground: Ground, name: str = "portfolio") -> list[Strategy]:
    """Raises UserError for a name that is none."""
    if name == "portfolio":
        made: list[Strategy] = [
            FewPoints(ground), PCT(ground, 2, 0.1), PCT(ground, 3, 0.05), Exhaustive(ground), Collections(ground),
        ]  # fmt: skip
        return made if ground.collections else made[:-1]
    if name == "random":
        return [FewPoints(ground)]
    if name == "pct":
        return [PCT(ground, 2, 0.5), PCT(ground, 3, 0.5)]
    if name == "exhaustive":
        return [Exhaustive(ground)]
    if name == "gc":
        return [Collections(ground)]
    raise UserError(f"unknown strategy {name!r}: {', '.join(STRATEGIES)}")


class Portfolio:
    """Draws whose turn it is by share; a strategy with nothing to say passes its turn on. When all have nothing left,
    places of the scenario's own code are searched exhaustively too."""

    def __init__(self, ground: Ground, name: str = "portfolio") -> None:
        self.ground = ground
        self.strategies = strategies(ground, name)
        self._controls = [
            Proposal(replace(ground.base, first=first, directives=()), "control")
            for first in range(ground.base.threads)
        ]
        self.controls_left = len(self._controls)
        self._widened = name not in ("portfolio", "exhaustive")
        self._controls_seen: list[tuple[Proposal, Report]] = []

    def next(self) -> Proposal | None:
        if self._controls:
            return self._controls.pop(0)
        if self.controls_left:
            return None  # wait: every strategy starts from what the controls show
        turn = list(self.strategies)
        while turn:
            chosen = self.ground.random.choices(turn, [strategy.share for strategy in turn])[0]
            proposal = chosen.next()
            if proposal is not None:
                return proposal
            turn.remove(chosen)
        if not self._widened:
            self._widen()
            return self.next()
        return None

    def _widen(self) -> None:
        self._widened = True
        knowledge = self.ground.knowledge
        bound = 1 if knowledge.touchers or knowledge.contended else 2  # without states, these are all there is
        wide = Exhaustive(self.ground, bound, least=1)
        wide.name = "exhaustive, all places"
        for proposal, report in self._controls_seen:
            wide.told(proposal, report)
        self.strategies.append(wide)

    def told(self, proposal: Proposal, report: Report) -> None:
        self.ground.knowledge.learn(report)
        if proposal.strategy == "control":
            self.controls_left -= 1
            self._controls_seen.append((proposal, report))
        for strategy in self.strategies:
            strategy.told(proposal, report)
