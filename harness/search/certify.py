"""The one place where something is called absent or held.

It refuses without a failing control arm, at a reached limit, and where the points did not cover the states involved.
"""

from __future__ import annotations

from dataclasses import dataclass

from .explore import Exploration
from .extent import extent

#: Strategies that draw at random, and end where what they draw has been run before.
_DRAWN = frozenset({"random", "pct", "surw", "hypothesis"})


@dataclass(frozen=True)
class Certificate:
    """certain  False means ``inconclusive``: never a pass
    says     on what it rests, or what is missing
    """

    certain: bool
    says: str


def negative(found: Exploration) -> Certificate:
    """Was nothing found because nothing is there, within a stated bound?"""
    base = f"{found.schedules} schedules ({found.distinct} distinct) over {found.points} points, {found.void} void"
    if found.void:
        base += " (hand-overs asked for where this interpreter gives none)"
    base += f", {found.by_strategy.get('gc', 0)} with a collection"
    if found.failures:
        return Certificate(False, f"{base}; {len(found.failures)} failed")
    if found.unrepeated:
        return Certificate(False, f"{base}; {found.unrepeated[0].says}: inconclusive")
    if found.limit:
        return Certificate(False, f"{base}; stopped at the limit of {found.limit}: inconclusive")
    states = found.knowledge.states()
    own = sum(found.knowledge.worth(point) == 1 for point in found.knowledge.points)
    if not states and not found.knowledge.contended and not any(found.knowledge.worth(p) for p in found.knowledge.points):
        return Certificate(False, f"{base}; no point at which a hand-over could matter was seen: inconclusive")
    if found.complete < 1:
        drawn = f"{found.strategy} drew nothing new any more, and " if found.strategy in _DRAWN else ""
        return Certificate(False, f"{base}; {drawn}not even one preemption was searched exhaustively: inconclusive")
    timed = "; time-outs and sleeps were taken to end only where no other thread could run" if found.timed else ""
    return Certificate(True, f"{base}; {extent(found, own)}{timed}")


def holds(control_failing: int, replayed_failing: int, under_fix: Exploration) -> Certificate:
    """Does a fix hold: the control arm fails, none of its schedules fails under the fix, and a search finds nothing?"""
    if control_failing == 0:
        return Certificate(False, "without the fix no schedule fails: there is nothing to judge it on")
    if replayed_failing:
        return Certificate(False, f"{replayed_failing} of {control_failing} failing schedules still fail")
    found = negative(under_fix)
    return Certificate(found.certain, f"all {control_failing} failing schedules pass; search under the fix: {found.says}")
