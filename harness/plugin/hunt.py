"""One search for one failure, reduced to its smallest form."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule, to_token
from harness.search import explore
from harness.search.certify import negative
from harness.search.reduce import reduce

from .answers import Hunt


def hunt(
    launcher: Launcher, base: Schedule, matching: str, fix: str, budget: int, seed: int, strategy: str
) -> Hunt:
    """Other failures than the one looked for are counted, and do not end the search."""

    def wanted(report: Report) -> bool:
        return re.search(matching, report.signature) is not None

    found = explore(
        launcher, base, fix=fix, budget=budget, seed=seed, strategy=strategy,
        stop=lambda schedule, report: wanted(report),
    )  # fmt: skip
    ours = [pair for pair in found.failures if wanted(pair[1])]
    others = tuple(sorted({report.signature for _, report in found.failures if not wanted(report)}))
    rests_on = negative(replace(found, failures=ours))
    if not ours:
        return Hunt(False, found.schedules, rests_on, others=others)
    schedule, report, _ = reduce(launcher, *ours[0], fix=fix, held=base.axes)
    return Hunt(
        True, found.schedules, rests_on, to_token(schedule), report.outcome, report.signature,
        len(schedule.directives), others,
    )  # fmt: skip
