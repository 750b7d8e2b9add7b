"""A search over a space of shapes: home to the end, a stated share of the schedules elsewhere, Hypothesis last.

Home is a :class:`Portfolio` of its own, and so is every other shape that is drawn: points and conflicting states are
another set where there are more threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from harness.run.report import Report

from .by_hypothesis import ByHypothesis
from .knowledge import Knowledge
from .portfolio import Portfolio
from .space import Space, shape_key, shape_text
from .strategy import Ground, Proposal

HEAD = 12  #: schedules at home before others are drawn
ELSEWHERE = 0.2  #: share of the schedules at shapes that are not home
LEAST = 48  #: schedules elsewhere, however soon home is done
_OPEN = 5  # shapes drawn at most: each gets enough schedules to show something
_FIRSTS = 2  # runs without a directive at a shape that is not home


@dataclass(frozen=True)
class Part:
    """What was done at one shape.

    complete  up to how many preemptions at states and locks every schedule has been run; -1 where it was sampled
    own       the same at all places, those of the scenario's own code among them
    states    conflicting ones
    locks     points of locks that two threads use
    """

    shape: str
    schedules: int
    complete: int
    own: int
    states: int
    locks: int


class Everywhere:
    def __init__(self, space: Space, knowledge: Knowledge, random: Random, restored: frozenset[str], name: str) -> None:
        self.space, self.random, self.name = space, random, name
        self._restored = restored
        self.home = Portfolio(Ground(space.home, knowledge, random, restored=restored), name)
        self.sides: dict[str, Portfolio] = {}  # by shape
        self.last = ByHypothesis(random.getrandbits(64), self.controls) if name in ("portfolio", "hypothesis") else None
        self._made_home = self._made_elsewhere = 0
        self._flying = 0

    def controls(self) -> list[tuple[Proposal, Report]]:
        """Runs without a directive, of every shape that was visited."""
        return [pair for side in (self.home, *self.sides.values()) for pair in side.controls]

    def next(self) -> Proposal | None:
        """None when there is nothing at the moment; nothing in flight then means that the search is over."""
        proposal = None
        if self._made_home >= HEAD and self.random.random() < ELSEWHERE:
            proposal = self._elsewhere()
        if proposal is None:
            proposal = self.home.next()
            self._made_home += proposal is not None
        if proposal is None and not self.home.ground.flying and self._made_elsewhere < self._quota():
            proposal = self._elsewhere()
        if proposal is None and not self._flying and self.last is not None:
            proposal = self.last.next()
        self._flying += proposal is not None
        return proposal

    def _quota(self) -> int:
        return max(LEAST, int(self._made_home * ELSEWHERE / (1 - ELSEWHERE)))

    def _elsewhere(self) -> Proposal | None:
        if not self.space.size:
            return None
        if not self.sides or (len(self.sides) < min(_OPEN, self.space.size) and self.random.random() < 0.3):
            self._open()
        turn = list(self.sides.values())
        self.random.shuffle(turn)
        for side in turn:
            proposal = side.next()
            if proposal is not None:
                self._made_elsewhere += 1
                return proposal
        return None

    def _open(self) -> None:
        shape = self.space.draw(self.random)
        if shape_key(shape) in self.sides:
            return
        firsts = list(range(shape.threads))
        if shape.threads > _FIRSTS:
            firsts = sorted({0, self.random.randrange(1, shape.threads)})
        ground = Ground(shape, Knowledge(), self.random, restored=self._restored)
        self.sides[shape_key(shape)] = Portfolio(ground, self.name, firsts)

    def told(self, proposal: Proposal, report: Report) -> None:
        self._flying -= 1
        key = shape_key(proposal.schedule)
        side = self.home if key == shape_key(self.space.home) else self.sides[key]
        side.told(proposal, report)
        if self.last is not None and proposal.strategy == self.last.name:
            self.last.told(proposal, report)

    def parts(self) -> list[Part]:
        """Home first."""
        found = []
        for side in (self.home, *self.sides.values()):
            knowledge = side.ground.knowledge
            states, locks = len(knowledge.states()), len(knowledge.contended)
            complete, own = side.complete(), side.complete_own()
            found.append(Part(shape_text(side.ground.base), side.schedules, complete, own, states, locks))
        return found

    def close(self) -> None:
        if self.last is not None:
            self.last.close()
