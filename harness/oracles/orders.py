"""The sequential orders of a program's threads: all of one to its end, then all of the next. Run when first asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

from harness.control.actions import HandOver
from harness.run.job import Job
from harness.schedule.schedule import Directive, Schedule

MOST_THREADS = 4  # there are 120 orders of five
Raw = dict[str, Any]


def orders(schedule: Schedule) -> list[Schedule]:
    """One schedule for each order in which the threads can run, each to its end; what the default rule does is not said."""
    return [_in_order(schedule, order) for order in permutations(range(schedule.threads))]


def each_first(schedule: Schedule) -> list[Schedule]:
    """Of the orders, one for each thread that can be first: enough where others differ in nothing that is asked."""
    threads = range(schedule.threads)
    return [_in_order(schedule, (*threads[first:], *threads[:first])) for first in threads]


def _in_order(schedule: Schedule, order: tuple[int, ...]) -> Schedule:
    directives = tuple(
        Directive(f"T{ended}", "end", 1, HandOver(f"T{following}"))
        for place, (ended, following) in enumerate(pairwise(order))
        if following != min(order[place + 1 :])
    )
    return replace(schedule, first=order[0], directives=directives)


class Orders:
    """``run(job)`` makes one run and gives its report as plain data."""

    def __init__(self, run: Callable[[Job], Raw]) -> None:
        self._run = run
        self._known: dict[str, Raw] = {}
        self.running = False

    def reports(self, job: Job, schedules: list[Schedule]) -> list[tuple[Schedule, Raw]]:
        """Those orders of ``job``'s program, with its threads, axes and fix; empty while they are being run."""
        if self.running:
            return []
        self.running = True
        try:
            return [(order, self._report(Job(order, job.fix, isolate=job.isolate))) for order in schedules]
        finally:
            self.running = False

    def _report(self, job: Job) -> Raw:
        key = json.dumps(job.to_json(), sort_keys=True)
        if key not in self._known:
            report = self._run(job)
            self._known[key] = {name: report.get(name) for name in ("findings", "keys", "log", "after", "made")}
        return self._known[key]


def name_of(order: Schedule, report: Raw) -> str:
    """As ``T1 then T0``: how the threads ended."""
    log, keys = report["log"], report["keys"]
    ended = [f"T{log[i]}" for i in range(0, len(log), 3) if keys[log[i + 1]] == "end"]
    last = [f"T{i}" for i in range(order.threads) if f"T{i}" not in ended]
    return " then ".join(ended + last)
