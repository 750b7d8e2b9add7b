"""The search: proposals are run, several at a time, and told back in the order they were made.

How many proposals are ahead of what has been told depends on how many have been made, never on the number of jobs or on
how fast a run is: a search is a function of the program and the seed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from harness.run.job import Job
from harness.run.report import Report
from harness.schedule.schedule import Schedule

from .again import Again, Unrepeated
from .everywhere import Everywhere, Part
from .knowledge import Knowledge
from .runner import Runner
from .space import Space
from .strategy import Proposal


@dataclass(frozen=True)
class Chance:
    """PCT's bound: at most ``miss`` is the probability that ``runs`` schedules all missed a bug of depth 2 among
    ``threads`` threads and ``steps`` points."""

    threads: int
    steps: int
    runs: int
    miss: float


@dataclass
class Exploration:
    """What a search did, whether or not it found something.

    schedules  how many were run; distinct how many of them differ
    limit      the budget or time that ended it, empty when the strategies had nothing left
    strategy   which was asked for
    knowledge, complete   of home, the shape that is searched to the end
    parts      what was done at each shape, home first
    void       directives of schedules that found no place to act on
    started    did bodies start threads of their own?
    choices    did any thread have to wait, or end, where several others could go on?
    timed      did any run wait with a time-out, or sleep?
    unrepeated failures that did not come back: they are not among ``failures``
    """

    schedules: int = 0
    distinct: int = 0
    void: int = 0
    started: bool = False
    choices: bool = False
    timed: bool = False
    not_aligned: int = 0
    limit: str = ""
    strategy: str = "portfolio"
    failures: list[tuple[Schedule, Report]] = field(default_factory=list)
    unrepeated: list[Unrepeated] = field(default_factory=list)
    digests: set[str] = field(default_factory=set)
    by_strategy: dict[str, int] = field(default_factory=dict)
    knowledge: Knowledge = field(default_factory=Knowledge)
    controls: list[Report] = field(default_factory=list)
    complete: int = -1
    parts: list[Part] = field(default_factory=list)
    chance: Chance | None = None
    points: int = 0
    seconds: float = 0.0


def lag(made: int) -> int:
    """How many proposals may be ahead of what has been told: few at first, when each report teaches most."""
    return min(32, 2 + made // 12)


def explore(
    runner: Runner,
    base: Schedule,
    *,
    space: Space | None = None,
    fix: str = "none",
    budget: int = 200,
    seconds: float | None = None,
    seed: int = 0,
    strategy: str = "portfolio",
    stop: Callable[[Schedule, Report], bool] = lambda schedule, report: True,
    progress: Callable[[Exploration], None] | None = None,
) -> Exploration:
    """Run schedules until ``stop`` says so of a failure that comes back, the strategies are done, or a limit is reached.

    base   home: threads and axes of the schedules
    space  draws other thread counts and axes too; its home is ``base``
    """
    found, again = Exploration(strategy=strategy), Again(runner, fix)
    portfolio = Everywhere(space or Space(base), found.knowledge, Random(seed), runner.restored, strategy)
    began = time.monotonic()
    waiting: deque[Proposal] = deque()  # made, not started
    flying: deque[tuple[Proposal, int]] = deque()
    stopping = False
    try:
        while True:
            ahead = len(waiting) + len(flying)
            while not stopping and ahead < lag(found.schedules) and found.schedules + ahead < budget:
                proposal = portfolio.next()
                if proposal is None:
                    break
                waiting.append(proposal)
                ahead += 1
            while waiting and not stopping and len(flying) < runner.jobs:
                proposal = waiting.popleft()
                flying.append((proposal, runner.start(Job(proposal.schedule, fix, proposal.online))))
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
                if (never := again.never(schedule, report)) is not None:
                    found.unrepeated.append(never)
                else:
                    found.failures.append((schedule, report))
                    stopping = stop(schedule, report)
            if seconds is not None and time.monotonic() - began > seconds and not stopping:
                found.limit, stopping = f"{seconds:g} s", True
            if progress is not None:
                progress(found)
    finally:
        portfolio.close()
    if not stopping and found.schedules >= budget:
        found.limit = f"{budget} schedules"
    found.complete = portfolio.home.complete() if not stopping else -1
    found.parts, found.chance = portfolio.parts(), _chance(portfolio)
    found.distinct = len(found.digests)
    found.seconds = time.monotonic() - began
    return found


def _chance(portfolio: Everywhere) -> Chance | None:
    pct = portfolio.home.depth_two()
    if pct is None or not pct.runs:
        return None
    return Chance(len(pct.names), pct.steps, pct.runs, pct.miss())


def _count(found: Exploration, proposal: Proposal, report: Report) -> None:
    found.schedules += 1
    found.void += report.void if proposal.online is None else 0
    found.started = found.started or any("." in name for name in report.threads)
    found.choices = found.choices or bool(report.choices)
    found.timed = found.timed or report.timed
    found.not_aligned += bool(report.unused)
    found.digests.add(report.digest)
    found.by_strategy[proposal.strategy] = found.by_strategy.get(proposal.strategy, 0) + 1
    found.points = max(found.points, len(report.log))
    if proposal.strategy == "control":
        found.controls.append(report)
