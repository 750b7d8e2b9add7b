"""What runs taught: which states are touched by two threads, one of them writing, and where each thread passes points.

Hand-overs are worth trying only at *conflicting* states. The set grows as runs go places that others did not (a
thread reads a second flag only once it has seen the first one True), so it is computed again after every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.run.report import Report

#: Points that are places too, behind which none is counted.
_THERE = ("unlock:", "start:", "marker:")


class Candidate(NamedTuple):
    """A point where a hand-over or collection may be asked for."""

    thread: str
    point: str
    n: int
    position: int  # in the log of the run it was seen in


def state_of(point: str) -> str | None:
    kind, _, rest = point.partition(":")
    return rest if kind in ("read", "write") else None


class Knowledge:
    def __init__(self) -> None:
        self.writers: dict[str, set[str]] = {}
        self.touchers: dict[str, set[str]] = {}
        self.contended: set[str] = set()
        self.points: set[str] = set()
        self.version = 0  # grows whenever the set of points worth a hand-over does
        self._worth: dict[str, int] = {}  # of points, as of this version

    def learn(self, report: Report) -> None:
        before = (len(self.contended), self._conflicts())
        for thread, point, _ in report.log:
            who = report.instead.get(thread, thread)
            self.points.add(point)
            state = state_of(point)
            if state is not None:
                self.touchers.setdefault(state, set()).add(who)
                if point.startswith("write:"):
                    self.writers.setdefault(state, set()).add(who)
        self.contended.update(report.contended)
        if before != (len(self.contended), self._conflicts()):
            self.version += 1
            self._worth.clear()

    def _conflicts(self) -> int:
        return sum(1 for state in self.writers if self.conflicting(state))

    def conflicting(self, state: str) -> bool:
        """Written by one thread and touched by another. What C holds behind a getter may be touched unseen."""
        writers = self.writers.get(state, set())
        return bool(writers) and (state.endswith("()") or len(writers | self.touchers[state]) > 1)

    def states(self) -> list[str]:
        return sorted(state for state in self.writers if self.conflicting(state))

    def worth(self, point: str) -> int:
        """0: of no use; 1: a place in the scenario's own code; 2: a conflicting state, a contended lock, a marker."""
        known = self._worth.get(point)
        if known is None:
            known = self._worth[point] = self._worth_of(point)
        return known

    def _worth_of(self, point: str) -> int:
        kind, _, state = point.partition(":")
        if kind in ("read", "write"):
            return 2 if self.conflicting(state) else 0
        if kind in ("lock", "unlock"):
            return 2 if point in self.contended else 0
        if kind in ("marker", "start"):
            return 2
        return 1 if kind in ("call", "line", "op", "return") else 0

    def candidates(self, report: Report, since: int = 0, least: int = 1) -> Iterator[Candidate]:
        """Points of a run worth at least ``least``, from log position ``since`` on.

        Points of one thread without a place in between come to the same hand-over: only the last is kept, and those
        where the hand-over is at the point itself.
        """
        last: dict[str, tuple[int, Candidate]] = {}
        for position, (thread, point, n, place) in enumerate(report.passes()):
            if position < since or self.worth(point) < least:
                continue
            held = last.get(thread)
            if held is not None and (held[0] != place or held[1].point.startswith(_THERE)):
                yield held[1]
            last[thread] = (place, Candidate(thread, point, n, position))
        for _, candidate in sorted(last.values(), key=lambda item: item[1].position):
            yield candidate


def ends(report: Report) -> dict[str, int]:
    """Where in the log each thread ended; one that went on to the last has the length of the log."""
    found = dict.fromkeys(report.threads, len(report.log))
    for place, (thread, point, _) in enumerate(report.log):
        if point == "end":
            found[thread] = place
    return found
