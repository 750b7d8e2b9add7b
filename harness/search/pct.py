"""PCT: random thread priorities and d - 1 points at which the running thread's falls below all others.

Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs"
(ASPLOS 2010): a bug of depth d among n threads and k points is hit with probability at least 1 / (n * k ** (d - 1)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.control.actions import Action, HandOver
from harness.control.managed import Managed, Status
from harness.run.report import Report

from .strategy import Ground, Proposal
from .turn import MOST, Turn

_TRIES = 20


class PCT:
    """Proposes seeds; :class:`PCTDecider` decides in the run."""

    def __init__(self, ground: Ground, depth: int, share: float) -> None:
        self.ground = ground
        self.depth = depth
        self.name = f"pct{depth}"
        self.share = share
        self.steps = 1
        self.runs = 0  # made with the present number of steps, for the threads known at present
        self.names = [f"T{index}" for index in range(ground.base.threads)]  # those that bodies start come as they are seen
        self._drawn: set[tuple[tuple[str, ...], tuple[int, ...]]] = set()
        self._turn = Turn(MOST // 2)  # two depths share one

    def told(self, proposal: Proposal, report: Report) -> None:
        self._turn.saw(report.digest, proposal.strategy == self.name)
        new = [name for name in report.threads if name not in self.names]
        if new:
            self.names += new
            self.runs = 0
        steps = max(self.steps, sum(1 for _, point, _ in report.log if self._of_interest(point)))
        if steps > self.steps:
            self.steps, self.runs = steps, 0
        drawn = proposal.online if proposal.strategy == self.name else None
        if drawn is not None and drawn["steps"] == self.steps and len(drawn["order"]) == len(self.names):
            self.runs += 1

    def _of_interest(self, point: str) -> bool:
        """State points where there are any, all places of the scenario's own code where there are none."""
        knowledge = self.ground.knowledge
        return knowledge.worth(point) >= (2 if knowledge.states() or knowledge.contended else 1)

    def next(self) -> Proposal | None:
        if self._turn.over:
            return None
        random, knowledge = self.ground.random, self.ground.knowledge
        watch = sorted(filter(self._of_interest, knowledge.points))
        if not watch:
            return None
        for _ in range(_TRIES):
            order = random.sample(self.names, len(self.names))
            changes = sorted(random.randint(1, self.steps) for _ in range(self.depth - 1))
            if (drawn := (tuple(order), tuple(changes))) not in self._drawn:
                break
        else:
            return None
        self._drawn.add(drawn)
        self._turn.proposed()
        online = {"kind": "pct", "order": order, "changes": changes, "watch": watch, "steps": self.steps}
        first = next(int(name[1:]) for name in order if "." not in name)  # of the bodies, which all are there from the beginning
        return Proposal(replace(self.ground.base, first=first, directives=()), self.name, online)

    def bound(self) -> float:
        """The paper's lower bound on the probability that one schedule hits a bug of this depth."""
        return 1 / (len(self.names) * self.steps ** (self.depth - 1))

    def miss(self) -> float:
        """At most so probable is it that the schedules made so far all missed a bug of this depth.

        Only those count that were drawn with the present number of steps, and with a priority for every thread known by now. None is drawn twice, which makes a miss less
        probable than independent draws do.
        """
        return (1 - self.bound()) ** self.runs


class PCTDecider:
    """``order``: threads from highest to lowest priority; one that no run had before gets the lowest."""

    def __init__(self, order: list[str], changes: list[int], watch: list[str]) -> None:
        self._priority = {name: float(len(order) - place) for place, name in enumerate(order)}
        self._changes = changes
        self._watch = frozenset(watch)
        self._step = 0

    def dump(self) -> dict[str, Any]:
        """What a decider in another process must know to go on."""
        return {"priority": self._priority, "step": self._step}

    def load(self, state: dict[str, Any]) -> None:
        self._priority, self._step = state["priority"], state["step"]

    def _of(self, thread: Managed) -> float:
        return self._priority.setdefault(thread.name, 0.5)

    def at(self, me: Managed, key: str, n: int) -> Sequence[Action]:
        if key not in self._watch:
            return ()
        self._step += 1
        for place, step in enumerate(self._changes):
            if step == self._step:
                self._priority[me.name] = -float(place + 1)
        best = max((t for t in me.controller.threads if t.status is Status.READY), key=self._of)
        return () if best is me else (HandOver(best.name),)

    def pick(self, me: Managed, key: str, n: int, ready: list[Managed]) -> Managed:
        return max(ready, key=self._of)
