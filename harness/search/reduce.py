"""Fewest directives, keeping the failure: each is left out in turn, from the last, until none can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.run.job import Job
from harness.run.report import Report
from harness.schedule.schedule import Schedule

from .explore import Runner


def _smaller(schedule: Schedule) -> Iterator[Schedule]:
    if schedule.directives and schedule.first:
        yield replace(schedule, first=0, directives=())
    if schedule.directives:
        yield replace(schedule, directives=())
    for index in range(len(schedule.directives) - 1, -1, -1):
        yield schedule.with_directives(schedule.directives[:index] + schedule.directives[index + 1 :])
    if schedule.first:
        yield replace(schedule, first=0)
        for index in range(len(schedule.directives)):  # a switch that only undid the choice of who starts
            yield replace(schedule, first=0, directives=schedule.directives[:index] + schedule.directives[index + 1 :])


def same_failure(seen: Report, wanted: Report) -> bool:
    """The same outcome and signature; of leaked states, some of the same and no others."""
    if seen.outcome != wanted.outcome:
        return False
    if seen.outcome == "state leaked":
        return _leaked(seen) <= _leaked(wanted)
    return seen.signature == wanted.signature


def _leaked(report: Report) -> set[str]:
    return set(report.signature.partition(": ")[2].split(", "))


def reduce(runner: Runner, schedule: Schedule, report: Report, fix: str = "none") -> tuple[Schedule, Report, int]:
    """(smallest schedule, its report, runs made): the same outcome and signature, nothing in it without effect."""
    runs = 0
    again = True
    while again:
        again = False
        for smaller in _smaller(schedule):
            runs += 1
            seen = runner.wait(runner.start(Job(smaller, fix)))
            if same_failure(seen, report) and not seen.unused and not seen.void:
                schedule, report, again = smaller, seen, True
                break
    return schedule, report, runs
