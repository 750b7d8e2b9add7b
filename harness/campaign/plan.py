"""What a campaign is made of: numbered units, each a search of its own.

A *cell* is a scenario: with the thread counts and the values of axes to draw from. Unit ``number`` is the search of cell
``number % len(cells)`` in round ``number // len(cells)``, and its seed is the campaign's plus the round. A unit makes
one run at a time, so that what it finds depends on its number and on nothing else: that is why units can be repeated
after a kill, divided among shards and put together again.

The first round is the whole search. Its exhaustive part is the same for every seed, so later rounds take in turn the
strategies that draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import harness
from harness.schedule import Schedule
from harness.search import STRATEGIES, Space

#: What decides how a unit goes: a change of any of it makes other units.
_ENGINE = ("control", "fixes", "garbage", "run", "scenario", "schedule", "search", "states")
_NOT_AGAIN = ("portfolio", "exhaustive")


@dataclass(frozen=True)
class Cell:
    """counts  thread counts, the first being home's
    held    axes held at one value
    drawn   the others, with their values, the first being home's
    digest  of the scenario's source
    torch   its release, empty where the scenario needs none
    """

    scenario: str
    counts: tuple[int, ...]
    held: dict[str, Any]
    drawn: dict[str, list[Any]]
    digest: str
    torch: str

    def space(self, free: bool) -> Space:
        return Space(Schedule(self.scenario, self.counts[0], free=free, axes=dict(self.held)), self.counts, self.drawn)


@dataclass(frozen=True)
class Unit:
    number: int
    cell: Cell
    seed: int
    strategy: str


@dataclass(frozen=True)
class Shard:
    """The ``index``-th of ``count`` parts (from 1). Each round is dealt from another start, so that every shard has
    its share of every scenario."""

    index: int = 1
    count: int = 1

    def has(self, number: int, cells: int) -> bool:
        return (number + number // cells) % self.count == self.index - 1


@dataclass(frozen=True)
class Plan:
    """budget    schedules at most in a unit
    seed      of the first round
    times     replays of every failure that was reduced
    later     strategies of the rounds after the first, in turn
    """

    cells: tuple[Cell, ...]
    free: bool
    fix: str
    strategy: str
    budget: int
    seed: int
    times: int
    later: tuple[str, ...]
    python: str
    engine: str

    @classmethod
    def make(
        cls, cells: tuple[Cell, ...], *, free: bool, fix: str, strategy: str, budget: int, seed: int, times: int,
        python: str,
    ) -> Plan:  # fmt: skip
        later = tuple(name for name in STRATEGIES if name not in _NOT_AGAIN)
        if strategy != "portfolio":
            later = (strategy,)
        return cls(cells, free, fix, strategy, budget, seed, times, later, python, engine_digest())

    def unit(self, number: int) -> Unit:
        turn, place = divmod(number, len(self.cells))
        strategy = self.later[(turn - 1) % len(self.later)] if turn else self.strategy
        return Unit(number, self.cells[place], self.seed + turn, strategy)

    def numbers(self, shard: Shard, seeds: int | None) -> Iterator[int]:
        """The units of a shard in order; without end where ``seeds``, the number of rounds, is None."""
        every = count() if seeds is None else range(seeds * len(self.cells))
        return (number for number in every if shard.has(number, len(self.cells)))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Plan:
        """Raises KeyError or TypeError where ``data`` is not what :meth:`to_json` makes."""
        cells = tuple(Cell(**{**cell, "counts": tuple(cell["counts"])}) for cell in data["cells"])
        return cls(**{**data, "cells": cells, "later": tuple(data["later"])})

    def difference(self, other: Plan) -> str:
        """What sets the other apart, in words; empty where the two have the same units."""
        for ours, theirs in zip(self.cells, other.cells, strict=False):
            for name, value in asdict(ours).items():
                if value != getattr(theirs, name):
                    return f"{ours.scenario}: {name} is {value or 'none'}, not {getattr(theirs, name) or 'none'}"
        if len(self.cells) != len(other.cells):
            return f"it has {len(self.cells)} scenarios, not {len(other.cells)}"
        for name, value in asdict(self).items():
            if name != "cells" and value != asdict(other)[name]:
                word = {"free": "mode free", "engine": "this program's source"}.get(name, name)
                return f"{word} is {value}, not {asdict(other)[name]}"
        return ""


def engine_digest() -> str:
    """Of the source that decides what a search does: units of two versions are not comparable."""
    root = Path(harness.__file__).parent
    digest = hashlib.sha256()
    for folder in _ENGINE:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
