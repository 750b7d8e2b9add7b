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


def in_order(job: Job, schedules: list[Schedule]) -> list[Job]:
    """The same program, fix and isolation on those schedules."""
    return [Job(schedule, job.fix, isolate=job.isolate) for schedule in schedules]


def in_main(job: Job) -> list[Job]:
    """One job for each order in which the thread that did the set-up can run the bodies."""
    schedule = replace(job.schedule, first=0, directives=())
    return [Job(schedule, job.fix, in_main=order) for order in permutations(range(schedule.threads))]


def program_of(job: Job) -> str:
    """What the orders depend on: looked up once a run, so it is short work."""
    schedule = job.schedule
    return json.dumps([schedule.threads, schedule.axes, schedule.free, job.fix, job.isolate], sort_keys=True)


class Orders:
    """``run(job)`` makes one run and gives its report as plain data."""

    def __init__(self, run: Callable[[Job], Raw]) -> None:
        self._run = run
        self._known: dict[str, Raw] = {}
        self.running = False

    def reports(self, jobs: list[Job]) -> list[tuple[Job, Raw]]:
        """What those gave, each run once and kept; empty while they are being run."""
        if self.running:
            return []
        self.running = True
        try:
            return [(job, self._report(job)) for job in jobs]
        finally:
            self.running = False

    def _report(self, job: Job) -> Raw:
        key = json.dumps(job.to_json(), sort_keys=True)
        if key not in self._known:
            report = self._run(job)
            self._known[key] = {name: report.get(name) for name in ("findings", "threads", "keys", "log", "after", "made")}
        return self._known[key]


def name_of(job: Job, report: Raw) -> str:
    """As ``T1 then T0``: how the threads ended."""
    if job.in_main:
        return "main: " + " then ".join(report["threads"][index] for index in job.in_main)
    log, keys = report["log"], report["keys"]
    ended = [f"T{log[i]}" for i in range(0, len(log), 3) if keys[log[i + 1]] == "end"]
    last = [f"T{i}" for i in range(job.schedule.threads) if f"T{i}" not in ended]
    return " then ".join(ended + last)
