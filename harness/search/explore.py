"""The search: proposals are run, several at a time, and told back in the order they were made.

The order makes a search with the same seed the same search, however fast each run is.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from harness.run.job import Job
from harness.run.report import Report
from harness.schedule.schedule import Schedule

from .knowledge import Knowledge
from .portfolio import Portfolio
from .strategy import Ground, Proposal


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


@dataclass
class Exploration:
    """What a search did, whether or not it found something.

    schedules  how many were run; distinct how many of them differ
    limit      the budget or time that ended it, empty when the strategies had nothing left
    """

    schedules: int = 0
    distinct: int = 0
    void: int = 0
    not_aligned: int = 0
    limit: str = ""
    failures: list[tuple[Schedule, Report]] = field(default_factory=list)
    digests: set[str] = field(default_factory=set)
    by_strategy: dict[str, int] = field(default_factory=dict)
    knowledge: Knowledge = field(default_factory=Knowledge)
    controls: list[Report] = field(default_factory=list)
    complete: int = -1
    points: int = 0
    seconds: float = 0.0


def explore(
    runner: Runner,
    base: Schedule,
    *,
    fix: str = "none",
    budget: int = 200,
    seconds: float | None = None,
    seed: int = 0,
    strategy: str = "portfolio",
    stop: Callable[[Schedule, Report], bool] = lambda schedule, report: True,
    progress: Callable[[Exploration], None] | None = None,
) -> Exploration:
    """Run schedules until ``stop`` says so of a failure, the strategies are done, or a limit is reached."""
    found = Exploration()
    ground = Ground(base, found.knowledge, Random(seed), restored=runner.restored)
    portfolio = Portfolio(ground, strategy)
    began = time.monotonic()
    flying: deque[tuple[Proposal, int]] = deque()
    stopping = False

    def launch() -> Iterator[None]:
        while len(flying) < runner.jobs and found.schedules + len(flying) < budget:
            proposal = portfolio.next()
            if proposal is None:
                return
            flying.append((proposal, runner.start(Job(proposal.schedule, fix, proposal.online))))
            yield

    while True:
        if not stopping:
            for _ in launch():
                pass
        if not flying:
            break
        proposal, number = flying.popleft()
        report = runner.wait(number)
        if stopping:
            continue
        _count(found, proposal, report)
        portfolio.told(proposal, report)
        if report.failed:
            schedule = proposal.schedule.with_directives(report.directives)
            found.failures.append((schedule, report))
            stopping = stop(schedule, report)
        if seconds is not None and time.monotonic() - began > seconds and not stopping:
            found.limit, stopping = f"{seconds:g} s", True
        if progress is not None:
            progress(found)
    if not stopping and found.schedules >= budget:
        found.limit = f"{budget} schedules"
    exhaustive = next((s for s in portfolio.strategies if s.name == "exhaustive"), None)
    found.complete = exhaustive.complete() if exhaustive is not None and not stopping else -1  # type: ignore[attr-defined]
    found.distinct = len(found.digests)
    found.seconds = time.monotonic() - began
    return found


def _count(found: Exploration, proposal: Proposal, report: Report) -> None:
    found.schedules += 1
    found.void += report.void
    found.not_aligned += bool(report.unused)
    found.digests.add(report.digest)
    found.by_strategy[proposal.strategy] = found.by_strategy.get(proposal.strategy, 0) + 1
    found.points = max(found.points, len(report.log))
    if proposal.strategy == "control":
        found.controls.append(report)
