"""Two runs of one schedule must be the same run; where they are not, something is not under control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from .job import Job
from .report import Report


def difference(one: Report, other: Report) -> str:
    """Where two runs first differ, in a sentence; empty where they don't."""
    if one.digest == other.digest:
        return ""
    for number, (left, right) in enumerate(zip_longest(one.log, other.log), 1):
        if left is None or right is None or left[:2] != right[:2]:
            return f"two runs of the same schedule differ first at point {number}: {_named(left)} against {_named(right)}"
    if one.outcome != other.outcome or one.signature != other.signature:
        return f"two runs pass the same points and end otherwise: {_end(one)} against {_end(other)}"
    return "two runs pass the same points and hand over elsewhere"


def _named(point: tuple[str, str, int] | None) -> str:
    return "the end" if point is None else f"{point[0]} {point[1]}"


def _end(report: Report) -> str:
    return f"{report.outcome} {report.signature}".strip()


class Twins:
    """A runner that makes every run twice; ``differing`` says which schedules are not under control, and where."""

    def __init__(self, runner: Any) -> None:
        self.runner = runner
        self.pairs = 0
        self.differing: list[tuple[Job, str]] = []
        self._twin: dict[int, tuple[Job, int]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.runner, name)

    def start(self, job: Job) -> int:
        number: int = self.runner.start(job)
        self._twin[number] = job, self.runner.start(job)
        return number

    def wait(self, number: int) -> Report:
        report: Report = self.runner.wait(number)
        job, twin = self._twin.pop(number)
        self.pairs += 1
        if says := difference(report, self.runner.wait(twin)):
            self.differing.append((job, says))
        return report

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Report]]:
        for job in jobs:
            yield job, self.wait(self.start(job))
