"""A run's outcome must be one that *some* sequential order gives: all of thread 1, then all of thread 2, or the reverse.

What two orders give differently may come out either way, but not mixed.

Where the scenario says ``sequential="main"``, the orders are run by the thread that did the set-up, without threads: what
belongs to a thread (configuration in a ``ContextVar``, say) must make no difference. Where it says values of axes, the
orders are run with those, and only results and what probes return are compared: set-up gives another ``shared``. So it is
where bodies have a process each and the orders are those of the main thread.

Said nothing about: runs that failed anyway; runs in which a collection ran code of the program (in the orders, none
does), but where it says ``"collected"``: there bodies collect what they leave, so that the orders run that code too; more
than four threads; and, where the scenario leaves it open, programs whose threads wait for each other, since
those have no sequential order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.errors import UserError
from harness.run.job import Job
from harness.run.outcome import Finding
from harness.scenario.api import Compares

from .orders import MOST_THREADS, Orders, in_main, in_order, name_of, orders, program_of

Left = dict[str, str]


class Sequential:
    """``wanted``: what the scenario says; None leaves it to the program."""

    def __init__(self, orders: Orders, wanted: Compares) -> None:
        self._orders = orders
        self._wanted = wanted
        self._known: dict[str, list[tuple[str, Left]]] = {}

    def judge(self, job: Job, report: dict[str, Any]) -> None:
        """Adds a finding to the report where no sequential order leaves what this run left. Raises UserError where the main
        thread is to be compared with and can't run the bodies."""
        left = report.get("after")
        if self._wanted is False or left is None or _other(report) or job.schedule.threads > MOST_THREADS:
            return
        if self._wanted != "collected" and any(made["ran"] for made in report.get("collections", ())):
            return
        if self._orders.running:
            return
        apart = "shared" not in left and self._wanted == "main"
        if isinstance(self._wanted, dict) or apart:
            left = _told(left)
        program = program_of(job)
        if program not in self._known:
            self._known[program] = self._allowed(job)
        allowed = self._known[program]
        if isinstance(self._wanted, dict) or apart:
            allowed = [(name, _told(other)) for name, other in allowed]
        if not allowed or any(left == other for _, other in allowed):
            return
        _, nearest = min(allowed, key=lambda item: len(_differing(left, item[1])))
        parts = _differing(left, nearest)
        shown = "; ".join(
            f"{part} is {left.get(part, 'unset')}, but "
            + " or ".join(_by_order(part, allowed))
            for part in parts[:3]
        )
        kind = "state leaked" if parts == ["containers that were empty"] else "wrong value"
        where = " in the main thread" if self._wanted == "main" else ""
        if isinstance(self._wanted, dict):
            where = " with " + ", ".join(f"{name}={value}" for name, value in self._wanted.items())
        text = f"no sequential order{where} gives this: {', '.join(parts)}"
        finding = Finding(kind, text, shown, at=len(report["log"]) // 3)
        report["findings"].append(finding.to_json())

    def _allowed(self, job: Job) -> list[tuple[str, Left]]:
        found, broken = [], ""
        if isinstance(self._wanted, dict):
            job = replace(job, schedule=replace(job.schedule, axes={**job.schedule.axes, **self._wanted}))
        jobs = in_main(job) if self._wanted == "main" else in_order(job, orders(job.schedule))
        for alone, report in self._orders.reports(jobs):
            if self._wanted is None and any(point.startswith("block:") for point in report["keys"] or ()):
                return []
            if not report["findings"] and report["after"] is not None:
                found.append((name_of(alone, report), report["after"]))
            elif alone.in_main:
                broken = report["findings"][0]["message"]
        if broken and not found:
            raise UserError(f'sequential="main": no order of the bodies passes in the main thread: {broken}')
        return found


def _told(left: Left) -> Left:
    return {part: value for part, value in left.items() if part == "results" or part.startswith("probe ")}


def _other(report: dict[str, Any]) -> bool:
    """Did it fail otherwise? A graph that changed may be seen in a value as well."""
    return any(finding["kind"] not in ("graph changed", "not compiled") for finding in report["findings"])


def _by_order(part: str, allowed: list[tuple[str, Left]]) -> list[str]:
    """Each value that an order gives, with the orders that do."""
    names: dict[str, list[str]] = {}
    for name, other in allowed:
        names.setdefault(other.get(part, "unset"), []).append(name)
    return [f"{value} ({', '.join(orders)})" for value, orders in names.items()]


def _differing(one: Left, other: Left) -> list[str]:
    return [part for part in sorted({*one, *other}) if one.get(part) != other.get(part)]
