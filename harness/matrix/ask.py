"""One cell is run: in the environment of its release, under its fix, one run at a time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from harness.errors import UserError
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule, from_token, to_token
from harness.search import explore
from harness.search.certify import negative
from harness.search.reduce import reduce

from .cell import Answer, Cell

Opened = Callable[[Cell], AbstractContextManager[Launcher]]


def ask(cell: Cell, opened: Opened) -> Answer:
    """``?`` where the scenario can't be run there, and why. Raises CannotTest where the forking parent ends."""
    began = time.monotonic()
    try:
        with opened(cell) as launcher:
            answer = _replayed(cell, launcher) if cell.schedule else _searched(cell, launcher)
            build = str(launcher.about["torch"] or "")
    except UserError as error:
        answer, build = Answer("?", " ".join(str(error).split())[:400]), ""
    return replace(answer, build=build, seconds=round(time.monotonic() - began, 1))


def _meant(cell: Cell, report: Report) -> bool:
    return report.failed and re.search(cell.matching, report.signature) is not None


def _replayed(cell: Cell, launcher: Launcher) -> Answer:
    schedule = from_token(cell.schedule)
    report = launcher.run(Job(schedule, cell.fix))
    if report.failed:
        return _failure(schedule, report, "replayed", 1)
    if report.unused:
        return Answer("?", f"not aligned: {report.unused[0]} was never passed", schedules=1)
    return Answer("ok", "this one schedule passes", schedules=1)


def _searched(cell: Cell, launcher: Launcher) -> Answer:
    home = Schedule(cell.scenario, launcher.fewest, free=cell.free, axes=cell.axes)
    found = explore(
        launcher, home, fix=cell.fix, budget=cell.budget, seed=cell.seed,
        stop=lambda schedule, report: _meant(cell, report) or not schedule.directives,  # then it is broken
    )  # fmt: skip
    ours = [pair for pair in found.failures if _meant(cell, pair[1])]
    others = tuple(sorted({report.signature for _, report in found.failures if not _meant(cell, report)}))
    if ours:
        schedule, report, _ = reduce(launcher, *ours[0], fix=cell.fix, held=cell.axes)
        return replace(_failure(schedule, report, f"found after {found.schedules} schedules", found.schedules), others=others)
    broken = next((report for schedule, report in found.failures if not schedule.directives), None)
    if broken is not None:
        why = f"it fails there without any switch: {broken.outcome}: {broken.message}"[:400]
        return Answer("?", why, schedules=found.schedules, others=others)
    rests_on = negative(replace(found, failures=[]))
    return Answer("ok" if rests_on.certain else "?", rests_on.says, schedules=found.schedules, others=others)


def _failure(schedule: Schedule, report: Report, why: str, schedules: int) -> Answer:
    return Answer(report.outcome, why, report.signature, to_token(schedule), len(schedule.directives), schedules)
