"""Who makes the runs of a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from harness.run.job import Job
from harness.run.report import Report


class Runner(Protocol):
    """Where jobs run: fresh processes (:class:`harness.run.launch.Launcher`) or this one."""

    jobs: int
    #: the scenario's states that some function saves and later stores back
    restored: frozenset[str]
    #: the least number of threads with which the scenario makes sense
    fewest: int
    #: how many bodies it has: thread i runs body i modulo that
    bodies: int

    def start(self, job: Job) -> int: ...

    def wait(self, number: int) -> Report: ...

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Report]]: ...
