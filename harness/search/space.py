"""Thread counts and axes that a search draws from: one shape is *home* and searched to the end, the others are sampled.

Home is the fewest threads and every axis' default value. A failure that needs more threads, or another value, is found
elsewhere; what is said of its absence is only how many schedules were tried there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from harness.schedule.schedule import Schedule


@dataclass(frozen=True)
class Space:
    """home    no directives, thread 0 first
    counts  thread counts to draw from, the first being home's
    axes    axes to draw from: values, the first being home's

    A shape is a schedule without directives whose first thread is 0.
    """

    home: Schedule
    counts: Sequence[int] = ()
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many shapes there are besides home."""
        total = max(1, len(self.counts))
        for values in self.axes.values():
            total *= len(values)
        return total - 1

    def draw(self, random: Random) -> Schedule:
        """A shape that is not home: mostly one coordinate is changed, the next thread count up more often than eight."""
        names = [name for name, values in self.axes.items() if len(values) > 1]
        coordinates = [*(["threads"] if len(self.counts) > 1 else []), *names]
        random.shuffle(coordinates)
        shape = self._changed(self.home, coordinates.pop(), random)
        while coordinates and random.random() < 0.25:
            shape = self._changed(shape, coordinates.pop(), random)
        return shape

    def _changed(self, shape: Schedule, name: str, random: Random) -> Schedule:
        if name != "threads":
            return replace(shape, axes={**shape.axes, name: random.choice(list(self.axes[name])[1:])})
        more = list(self.counts)[1:]
        return replace(shape, threads=random.choices(more, [1 / (place + 1) for place in range(len(more))])[0])


def shape_key(schedule: Schedule) -> str:
    """Equal for schedules of one shape."""
    return f"{schedule.threads} {json.dumps(schedule.axes, sort_keys=True)}"


def shape_text(schedule: Schedule) -> str:
    """``3 threads, trace='make_fx'``; an axis at its default goes without saying."""
    one = "1 thread" if schedule.threads == 1 else f"{schedule.threads} threads"
    return ", ".join([one, *(f"{name}={value!r}" for name, value in sorted(schedule.axes.items()))])
