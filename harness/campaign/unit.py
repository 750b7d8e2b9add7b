"""One unit: the search of a cell, every kind of failure it shows reduced and replayed."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from harness.run.job import Job
from harness.run.report import Report
from harness.schedule import Schedule, to_token
from harness.search import Runner, explore
from harness.search.again import Unrepeated, smallest
from harness.search.certify import negative

from .pairs import Pairs
from .plan import Cell, Plan, Unit

#: Kinds of failure that are reduced in a unit; of more, a program that never fails twice alike, the original is kept.
REDUCED = 10
Told = Callable[[dict[str, Any]], None]


class _OneAtATime:
    """A runner's face that makes one run at a time, and shows each report."""

    jobs = 1

    def __init__(self, runner: Runner, see: Callable[[Report], None]) -> None:
        self.runner, self.see = runner, see
        self.restored, self.fewest, self.bodies = runner.restored, runner.fewest, runner.bodies

    def start(self, job: Job) -> int:
        return self.runner.start(job)

    def wait(self, number: int) -> Report:
        report = self.runner.wait(number)
        self.see(report)
        return report

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Report]]:
        for job in jobs:
            yield job, self.wait(self.start(job))


def run_unit(runner: Runner, plan: Plan, unit: Unit, told: Told) -> dict[str, Any]:
    """What the search came to, as plain data. ``told`` is given ``{"ran": schedules, "failing": of them}`` as it goes,
    and ``{"failure": …, "outcome": …, "signature": …}`` for every kind: as soon as it is seen, and when it is reduced.
    """
    cell, pairs = unit.cell, Pairs()
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[Schedule, Report]] = {}
    plain = _OneAtATime(runner, lambda report: None)

    def failed(schedule: Schedule, report: Report) -> bool:
        kind = (report.outcome, _storable(report.signature))
        counts[kind] += 1
        if kind not in first:
            first[kind] = schedule, report
            told(_failure(plan, cell, kind, schedule, report))
        return False

    space = cell.space(plan.free)
    found = explore(
        _OneAtATime(runner, pairs.learn), space.home, space=space, fix=plan.fix, budget=plan.budget, seed=unit.seed,
        strategy=unit.strategy, stop=failed,
        progress=lambda so_far: told({"ran": so_far.schedules, "failing": len(so_far.failures)}),
    )  # fmt: skip
    for kind, (original, report) in list(first.items())[:REDUCED]:
        failure = smallest(plain, original, report, plan.fix, (), plan.times)
        if isinstance(failure, Unrepeated):  # it did once: what was told of it stands
            continue
        minimal, reduced, again = failure
        same = sum(report.digest == reduced.digest for report in again)
        message = _failure(plan, cell, kind, original, report)
        message["failure"].update(
            minimal=minimal.to_json(),
            token=to_token(minimal),
            minimal_signature=_storable(reduced.signature),
            replay={"times": plan.times, "same": same},
        )
        told(message)
    rests_on = negative(found)
    return {
        "schedules": found.schedules,
        "distinct": found.distinct,
        "void": found.void,
        "points": found.points,
        "limit": found.limit,
        "certain": rests_on.certain,
        "rests_on": rests_on.says,
        "failing": sorted([outcome, signature, times] for (outcome, signature), times in counts.items()),
        "pairs": pairs.to_json(),
    }


def _storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _failure(plan: Plan, cell: Cell, kind: tuple[str, str], original: Schedule, report: Report) -> dict[str, Any]:
    return {
        "outcome": kind[0],
        "signature": kind[1],
        "failure": {
            "message": report.message,
            "original": original.to_json(),
            "original_token": to_token(original),
            "minimal": None,
            "token": to_token(original),
            "minimal_signature": kind[1],
            "replay": {"times": 0, "same": 0},
            "digest": cell.digest,
            "torch": cell.torch,
            "python": plan.python,
            "platform": platform.platform(),
        },
    }
