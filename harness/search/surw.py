"""Selectively uniform random walk: a uniform draw among the orders of a few chosen points.

Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency Testing" (ASPLOS 2025). A random walk over all points
favours orders in which short threads come first. Here only points of interest count (those of one conflicting state or
lock, or all of them), and whoever passes the next of them is drawn with weights as many as each thread has still before
it, from counts that a control run gave. Each order of them is then equally probable, as far as the counts hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.control.actions import Action, HandOver
from harness.control.managed import Managed, Status
from harness.run.report import Report

from .strategy import Ground, Proposal
from .turn import Turn

MANY = 6  #: with fewer points that matter the exhaustive strategy is there first
_MASK = (1 << 64) - 1


class SURW:
    """Proposes seeds; :class:`SURWDecider` decides in the run."""

    name = "surw"
    share = 0.1

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._control: Report | None = None
        self._turn = Turn()

    def told(self, proposal: Proposal, report: Report) -> None:
        self._turn.saw(report.digest, proposal.strategy == self.name)
        if self._control is None or len(report.log) > len(self._control.log):
            self._control = report

    def next(self) -> Proposal | None:
        if self._turn.over or self._control is None:
            return None
        random, knowledge = self.ground.random, self.ground.knowledge
        hot = [(thread, point) for thread, point, _ in self._control.log if knowledge.worth(point) >= 2]
        if len(hot) < MANY:
            return None
        self._turn.proposed()
        watch = {point for _, point in hot}
        passed_by: dict[str, set[str]] = {}
        for thread, point in set(hot):
            passed_by.setdefault(_object(point), set()).add(thread)
        shared = sorted(what for what, threads in passed_by.items() if len(threads) > 1)
        if shared and random.random() < 0.5:
            one = random.choice(shared)
            watch = {point for point in watch if _object(point) == one}
        weights: dict[str, int] = dict.fromkeys((f"T{i}" for i in range(self.ground.base.threads)), 1)
        for thread, point in hot:
            if point in watch:
                weights[thread] = weights.get(thread, 1) + 1
        names = [name for name in weights if "." not in name]
        first = random.choices(names, [weights[name] for name in names])[0]
        online = {"kind": "surw", "seed": random.getrandbits(63), "weights": weights, "watch": sorted(watch)}
        base = replace(self.ground.base, first=int(first[1:]), directives=())
        return Proposal(base, self.name, online)


def _object(point: str) -> str:
    """What a point is about: reads and writes of a state are one, so are taking and giving back a lock."""
    return point.partition(":")[2] or point


class SURWDecider:
    """``weights``: stretches that each thread has before it, one more than points of interest. Who can run has one at least."""

    def __init__(self, seed: int, weights: dict[str, int], watch: list[str]) -> None:
        self._state = seed | 1
        self._left = dict(weights)
        self._watch = frozenset(watch)

    def dump(self) -> dict[str, Any]:
        """What a decider in another process must know to go on."""
        return {"state": self._state, "left": self._left}

    def load(self, state: dict[str, Any]) -> None:
        self._state, self._left = state["state"], state["left"]

    def _below(self, bound: int) -> int:
        """Marsaglia's xorshift64*: a few operations, no function of the library that could be a place."""
        x = self._state
        x ^= x >> 12
        x ^= (x << 25) & _MASK
        x ^= x >> 27
        self._state = x
        return ((x * 0x2545F4914F6CDD1D & _MASK) >> 33) % bound

    def _draw(self, ready: list[Managed]) -> Managed:
        left = [max(1, self._left.get(thread.name, 1)) for thread in ready]
        at = self._below(sum(left))
        for thread, weight in zip(ready, left, strict=True):
            at -= weight
            if at < 0:
                return thread
        return ready[0]

    def at(self, me: Managed, key: str, n: int) -> Sequence[Action]:
        if key not in self._watch:
            return ()
        self._left[me.name] = self._left.get(me.name, 1) - 1
        drawn = self._draw([t for t in me.controller.threads if t.status is Status.READY])
        return () if drawn is me else (HandOver(drawn.name),)

    def pick(self, me: Managed, key: str, n: int, ready: list[Managed]) -> Managed:
        return self._draw(ready)
