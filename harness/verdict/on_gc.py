"""Does a failure depend on garbage collection? Run, not inferred: the same schedule with its collections left out."""

from __future__ import annotations

from dataclasses import dataclass

from harness.control.actions import Collect
from harness.run.job import Job
from harness.run.report import Report
from harness.schedule.schedule import Schedule
from harness.search import Runner
from harness.search.reduce import same_failure


@dataclass(frozen=True)
class OnGC:
    """depends  the schedule fails, and passes with its collections left out and all else as it was
    says     the two outcomes in words
    """

    depends: bool
    says: str


def on_gc(runner: Runner, schedule: Schedule, report: Report, fix: str = "none") -> OnGC:
    """``report`` is of ``schedule``. A schedule without collections is run no more: the collector was off in it."""
    rest = tuple(d for d in schedule.directives if not isinstance(d.action, Collect))
    if len(rest) == len(schedule.directives):
        return OnGC(False, "no: nothing was collected in this run")
    without = runner.wait(runner.start(Job(schedule.with_directives(rest), fix)))
    if not report.failed:
        return OnGC(False, "no: it passes with the collection")
    if same_failure(without, report):
        return OnGC(False, "no: it fails in the same way with the collection left out")
    if without.failed:
        return OnGC(False, f"in part: with the collection left out it fails otherwise ({without.signature})")
    lost = f" ({without.unused[0]}: never passed without it)" if without.unused else ""
    return OnGC(True, f"yes: with the collection left out, the same schedule passes{lost}")
