"""Does what failed fail again? Only that is a failure that a schedule decides; the rest is time's, or another process'."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from harness.run.job import Job
from harness.run.report import Report
from harness.run.twins import difference
from harness.schedule.schedule import Schedule

from .reduce import reduce
from .runner import Runner

TIMES = 5  #: replays, at most, of a schedule that failed


@dataclass(frozen=True)
class Unrepeated:
    """A schedule that failed once and in none of its replays.

    differs  where the first replay left the run that failed
    """

    schedule: Schedule
    report: Report
    times: int
    differs: str

    @property
    def says(self) -> str:
        what = f"{self.report.outcome}: {self.report.message}".partition("\n")[0]
        return f"a failure did not come back in {self.times} replays, so no schedule decides it ({what[:200]}; {self.differs})"


class Again:
    """Asks of the first failure of each kind; ``fix`` is in force."""

    def __init__(self, runner: Runner, fix: str) -> None:
        self.runner, self.fix = runner, fix
        self._kinds: set[tuple[str, str]] = set()

    def never(self, schedule: Schedule, report: Report) -> Unrepeated | None:
        """None where it comes back. How it fails then is not asked: some messages are never twice the same."""
        kind = (report.outcome, report.signature)
        if kind in self._kinds:
            return None
        differs = ""
        for _ in range(TIMES):
            again = self.runner.wait(self.runner.start(Job(schedule, self.fix)))
            if again.failed:
                self._kinds.add(kind)
                return None
            differs = differs or difference(report, again)
        return Unrepeated(schedule, report, TIMES, differs)


def smallest(
    runner: Runner, schedule: Schedule, report: Report, fix: str, held: Collection[str], times: int
) -> tuple[Schedule, Report, list[Report]] | Unrepeated:
    """(the smallest schedule that fails again, its report, its replays); a smaller one may have failed by chance."""
    small, seen, _ = reduce(runner, schedule, report, fix, held)
    for candidate, first in ((small, seen), (schedule, report)):
        replays = [again for _, again in runner.map(Job(candidate, fix) for _ in range(times))]
        if any(again.failed for again in replays):
            return candidate, first, replays
    return Unrepeated(schedule, report, times, difference(report, replays[0]))
