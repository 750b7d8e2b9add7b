"""A run's outcome must be one that *some* sequential order gives: all of thread 1, then all of thread 2, or the reverse.

The orders are run when the first outcome is to be judged, once for each choice of threads, axes and fix, and kept. What
two orders give differently may come out either way, but not mixed.

Where the scenario says ``sequential="main"``, the orders are run by the thread that did the set-up, without threads: what
belongs to a thread (configuration in a ``ContextVar``, say) must make no difference.

Said nothing about: runs that failed anyway; runs in which a collection ran code of the program (in the orders, none
does); more than four threads (there are 120 orders of five); and, where the scenario leaves it open, programs whose
threads wait for each other, since those have no sequential order.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any, Literal

from harness.control.actions import HandOver
from harness.errors import UserError
from harness.run.job import Job
from harness.run.outcome import Finding
from harness.schedule.schedule import Directive, Schedule

MOST_THREADS = 4
Left = dict[str, str]


def in_main(job: Job) -> list[Job]:
    """One job for each order in which the thread that did the set-up can run the bodies."""
    schedule = replace(job.schedule, first=0, directives=())
    return [Job(schedule, job.fix, in_main=order) for order in permutations(range(schedule.threads))]


def orders(schedule: Schedule) -> list[Schedule]:
    """One schedule for each order in which the threads can run, each to its end; what the default rule does is not said."""
    made = []
    for order in permutations(range(schedule.threads)):
        directives = tuple(
            Directive(f"T{ended}", "end", 1, HandOver(f"T{following}"))
            for place, (ended, following) in enumerate(pairwise(order))
            if following != min(order[place + 1 :])
        )
        made.append(replace(schedule, first=order[0], directives=directives))
    return made


class Sequential:
    """``run(job)`` makes one run and gives its report as plain data. ``wanted``: what the scenario says; None leaves it to the
    program."""

    def __init__(self, run: Callable[[Job], dict[str, Any]], wanted: bool | Literal["main"] | None) -> None:
        self._run = run
        self._wanted = wanted
        self._known: dict[str, list[tuple[str, Left]]] = {}

    def judge(self, job: Job, report: dict[str, Any]) -> None:
        """Adds a finding to the report where no sequential order leaves what this run left. Raises UserError where the main
        thread is to be compared with and can't run the bodies."""
        left = report.get("after")
        if self._wanted is False or left is None or report["findings"] or job.schedule.threads > MOST_THREADS:
            return
        if any(made["ran"] for made in report.get("collections", ())):
            return
        allowed = self._allowed(job)
        if not allowed or any(left == other for _, other in allowed):
            return
        _, nearest = min(allowed, key=lambda item: len(_differing(left, item[1])))
        parts = _differing(left, nearest)
        shown = "; ".join(
            f"{part} is {left.get(part, 'unset')}, but "
            + " or ".join(dict.fromkeys(f"{other.get(part, 'unset')} ({name})" for name, other in allowed))
            for part in parts[:3]
        )
        kind = "state leaked" if parts == ["containers that were empty"] else "wrong value"
        where = " in the main thread" if self._wanted == "main" else ""
        text = f"no sequential order{where} gives this: {', '.join(parts)}"
        finding = Finding(kind, text, shown, at=len(report["log"]) // 3)
        report["findings"].append(finding.to_json())

    def _allowed(self, job: Job) -> list[tuple[str, Left]]:
        schedule = job.schedule
        key = json.dumps([schedule.threads, schedule.axes, schedule.free, job.fix, job.isolate], sort_keys=True)
        if key not in self._known:
            self._known[key] = []  # while they are run, nothing is judged
            found = []
            broken = ""
            main = self._wanted == "main"
            for alone in in_main(job) if main else [Job(order, job.fix, isolate=job.isolate) for order in orders(schedule)]:
                report = self._run(alone)
                if self._wanted is None and any(point.startswith("block:") for point in report.get("keys", ())):
                    return []
                if not report["findings"] and report.get("after") is not None:
                    name = "main: " + " then ".join(report["threads"][i] for i in alone.in_main) if main else _name(alone.schedule, report)
                    found.append((name, report["after"]))
                elif main:
                    broken = report["findings"][0]["message"]
            if main and not found:
                raise UserError(f'sequential="main": no order of the bodies passes in the main thread: {broken}')
            self._known[key] = found
        return self._known[key]


def _name(order: Schedule, report: dict[str, Any]) -> str:
    log, keys = report["log"], report["keys"]
    ended = [f"T{log[i]}" for i in range(0, len(log), 3) if keys[log[i + 1]] == "end"]
    last = [f"T{i}" for i in range(order.threads) if f"T{i}" not in ended]
    return " then ".join(ended + last)


def _differing(one: Left, other: Left) -> list[str]:
    return [part for part in sorted({*one, *other}) if one.get(part) != other.get(part)]
