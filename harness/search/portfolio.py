"""Several strategies side by side on one shape, each with its share; what one learns, all know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.errors import UserError
from harness.run.report import Report

from .collections import Collections
from .exhaustive import Exhaustive
from .few_points import FewPoints
from .own_places import OwnPlaces
from .pct import PCT
from .strategy import Ground, Proposal, Strategy
from .surw import SURW
from .walk import walks

_FEW = 8  # with more states that are saved and restored points are so many that a random walk is two schedules lost
_SMALL = 40  # places in a run, and all of them are searched from the beginning
STRATEGIES = ("portfolio", "random", "pct", "surw", "exhaustive", "gc", "hypothesis")


def strategies(ground: Ground, name: str = "portfolio") -> list[Strategy]:
    """Raises UserError for a name that is none."""
    if name == "portfolio":
        made: list[Strategy] = [
            FewPoints(ground), PCT(ground, 2, 0.1), PCT(ground, 3, 0.05), SURW(ground), Exhaustive(ground), OwnPlaces(ground),
            Collections(ground),
        ]  # fmt: skip
        return made if ground.collections else made[:-1]
    if name == "random":
        return [FewPoints(ground)]
    if name == "pct":
        return [PCT(ground, 2, 0.5), PCT(ground, 3, 0.5)]
    if name == "surw":
        return [SURW(ground)]
    if name == "exhaustive":
        return [Exhaustive(ground)]
    if name == "gc":
        return [Collections(ground)]
    if name == "hypothesis":
        return []
    raise UserError(f"unknown strategy {name!r}: {', '.join(STRATEGIES)}")


class Portfolio:
    """Draws whose turn it is by share; a strategy with nothing to say passes its turn on. When all have nothing left,
    places of the scenario's own code are searched exhaustively too.

    firsts  the threads that start in the runs without a directive; None: each in turn, after two random walks
    """

    def __init__(self, ground: Ground, name: str = "portfolio", firsts: Sequence[int] | None = None) -> None:
        self.ground = ground
        self.strategies = strategies(ground, name)
        threads = range(ground.base.threads)
        self.every_first = firsts is None or set(firsts) == set(threads)
        self._controls = [
            Proposal(replace(ground.base, first=first, directives=()), "control")
            for first in (threads if firsts is None else firsts)
        ]
        walking = firsts is None and name == "portfolio" and len(ground.restored) <= _FEW
        self._walks = walks(ground.base, ground.random) if walking else []
        self.controls: list[tuple[Proposal, Report]] = []
        self._controls_left = len(self._controls)
        self._wide: Exhaustive | None = None
        self._widened = name not in ("portfolio", "exhaustive")
        self.schedules = 0

    def next(self) -> Proposal | None:
        proposal = self._propose()
        if proposal is not None:
            self.ground.flying.add(proposal.key)
        return proposal

    def _propose(self) -> Proposal | None:
        if self._walks:
            return self._walks.pop(0)
        if self._controls:
            return self._controls.pop(0)
        if self._controls_left:
            return None  # wait: every strategy starts from what the controls show
        turn = [strategy for strategy in self.strategies if strategy.share]
        while turn:
            chosen = self.ground.random.choices(turn, [strategy.share for strategy in turn])[0]
            proposal = chosen.next()
            if proposal is not None:
                return proposal
            turn.remove(chosen)
        if not self._widened and not self.ground.flying:  # what still runs may give the strategies something to say
            self._widen()
            return self._propose()
        return None

    def _widen(self) -> None:
        self._widened = True
        knowledge = self.ground.knowledge
        bound = 1 if knowledge.touchers or knowledge.contended else 2  # without states, these are all there is
        wide = Exhaustive(self.ground, bound, least=1)
        wide.name = "exhaustive, all places"
        for proposal, report in self.controls:
            wide.told(proposal, report)
        self.strategies.append(wide)
        self._wide = wide

    def told(self, proposal: Proposal, report: Report) -> None:
        self.schedules += 1
        self.ground.flying.discard(proposal.key)
        if proposal.online is None:
            self.ground.ran[proposal.key] = report if len(proposal.schedule.directives) < 2 else None
        self.ground.knowledge.learn(report)
        if proposal.strategy == "control":
            self._controls_left -= 1
            self.controls.append((proposal, report))
            if not self._controls_left and not self._widened and self._places() <= _SMALL:
                self._widen()  # tells it of the controls
        for strategy in self.strategies:
            if proposal.strategy != "control" or strategy is not self._wide:
                strategy.told(proposal, report)

    def _places(self) -> int:
        return max(sum(1 for _ in self.ground.knowledge.candidates(report)) for _, report in self.controls)

    def complete(self) -> int:
        """Up to how many preemptions every schedule of this shape has been run; -1: not even those without one."""
        if self._controls_left or not self.every_first:
            return -1
        exhaustive = [s for s in self.strategies if isinstance(s, Exhaustive) and s.least >= 2]
        return exhaustive[0].complete() if exhaustive else -1

    def complete_own(self) -> int:
        """The same with all places of the scenario's own code."""
        return self._wide.complete() if self._wide is not None and self.every_first else -1

    def depth_two(self) -> PCT | None:
        return next((s for s in self.strategies if isinstance(s, PCT) and s.depth == 2), None)
