"""The nearest schedule that passes: the failing one with a single directive moved, or left out. It is run, not argued.

A directive can be moved to another point that its thread passed in the failing run: an access to a guilty state, a lock, a
marker, a place in the scenario's own code. Near is how few points of that thread lie between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.run.job import Job
from harness.run.report import Report
from harness.schedule import Directive, Schedule

from .cause import Cause

if TYPE_CHECKING:
    from harness.search import Runner

_EACH_WAY = 6  # points tried for each directive, earlier and later
_OWN = ("lock", "unlock", "marker", "call", "line")


@dataclass(frozen=True)
class Counterfactual:
    """directive  the one that differs
    instead    where it is in the schedule that passes; None: it is left out
    points     how many points of its thread lie between the two, negative where it is earlier
    report     of the schedule that passes
    tried      schedules that were run to find it, this one included
    """

    schedule: Schedule
    directive: Directive
    instead: Directive | None
    points: int
    report: Report
    tried: int


@dataclass(frozen=True)
class _Neighbour:
    schedule: Schedule
    directive: Directive
    instead: Directive | None
    points: int


def nearest_pass(
    runner: Runner, schedule: Schedule, failing: Report, cause: Cause | None, fix: str = "none"
) -> Counterfactual | None:
    """None where every neighbour fails too, or there is no directive to move.

    A neighbour whose directive is void is not counted: nothing was handed over, so it is not the schedule it says.
    """
    found = sorted(_neighbours(schedule, failing, cause), key=lambda n: (n.instead is None, abs(n.points)))
    jobs = (Job(neighbour.schedule, fix, detail=True) for neighbour in found)
    for tried, (neighbour, (_, report)) in enumerate(zip(found, runner.map(jobs), strict=False), 1):
        if report.outcome == "ok" and not report.unused and report.void <= failing.void:
            return Counterfactual(
                neighbour.schedule, neighbour.directive, neighbour.instead, neighbour.points, report, tried
            )
    return None


def _neighbours(schedule: Schedule, failing: Report, cause: Cause | None) -> Iterator[_Neighbour]:
    states = () if cause is None else (cause.state, *cause.with_it)
    for place, directive in enumerate(schedule.directives):
        rest = schedule.directives[:place], schedule.directives[place + 1 :]
        passes = [(point, n) for thread, point, n, _ in failing.passes() if thread == directive.thread]
        here = next((i for i, p in enumerate(passes) if p == (directive.point, directive.n)), None)
        if here is not None:
            candidates = [i for i, (point, _) in enumerate(passes) if _is_candidate(point, states) and i != here]
            earlier = [i for i in candidates if i < here][-_EACH_WAY:]
            later = [i for i in candidates if i > here][:_EACH_WAY]
            for i in (*earlier, *later):
                moved = replace(directive, point=passes[i][0], n=passes[i][1])
                if moved not in schedule.directives:
                    yield _Neighbour(schedule.with_directives((*rest[0], moved, *rest[1])), directive, moved, i - here)
        yield _Neighbour(schedule.with_directives((*rest[0], *rest[1])), directive, None, len(passes))


def _is_candidate(point: str, states: tuple[str, ...]) -> bool:
    kind, _, rest = point.partition(":")
    return kind in _OWN or (kind in ("read", "write") and rest in states)
