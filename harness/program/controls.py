"""Does the program fail anyway? Three orders that are nobody's fault: plain threads; main first, the others when it waits
or ends; each thread as soon as it is started."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.run.twins import difference
from harness.schedule.schedule import Schedule


@dataclass(frozen=True)
class Controls:
    """by_name  order -> its run
    differ   two runs of the second order: how they differ, in words; empty where they are alike
    """

    by_name: dict[str, Report]
    differ: str

    @property
    def always(self) -> Report | None:
        """A run of those that fails, where all of them do."""
        runs = list(self.by_name.values())
        return runs[1] if all(run.failed for run in runs) else None

    def says(self) -> str:
        return "; ".join(f"{name}: {_short(run)}" for name, run in self.by_name.items())


def _short(run: Report) -> str:
    return run.signature or run.outcome


def controls(launcher: Launcher, base: Schedule, fix: str) -> Controls:
    """The second run is of the same order as the first: what that left outside its process shows there."""
    base = replace(base, directives=())
    first, again = (launcher.run(Job(base, fix)) for _ in range(2))
    found = {
        "plain threads": launcher.run(Job(base, fix, plain=True)),
        "main first": first,
        "threads first": launcher.run(Job(base, fix, {"kind": "eager"})),
    }
    return Controls(found, difference(first, again) or "")
