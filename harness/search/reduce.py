"""Fewest threads, directives and collections that still fail in the same way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from harness.control.actions import Collect, HandOver
from harness.run.job import Job
from harness.run.report import Report
from harness.schedule.schedule import Directive, Schedule

from .knowledge import Knowledge
from .runner import Runner

_ALL_SUBSETS = 5  # directives up to which every subset is tried; of more, runs of them and then single ones are left out

_EARLIER = 12  # points at which a directive is tried in place of its own


def same_failure(seen: Report, wanted: Report) -> bool:
    """The same outcome and signature; of leaked states, some of the same and no others."""
    if seen.outcome != wanted.outcome:
        return False
    if seen.outcome == "state leaked":
        return _leaked(seen) <= _leaked(wanted)
    return seen.signature == wanted.signature


def _leaked(report: Report) -> set[str]:
    return set(report.signature.partition(": ")[2].split(", "))


def reduce(
    runner: Runner, schedule: Schedule, report: Report, fix: str = "none", held: Collection[str] = ()
) -> tuple[Schedule, Report, int]:
    """(smallest schedule, its report, runs made): the same outcome and signature, nothing in it without effect.

    ``held``: axes that keep their values, being what was asked about.
    """
    tried = {_key(schedule)}
    if report.unused:
        schedule = _with(schedule, *(d for d in schedule.directives if d not in report.unused))
    knowledge = Knowledge()
    knowledge.learn(report)

    def first_of(candidates: Iterable[Schedule]) -> tuple[Schedule, Report] | None:
        new = [candidate for candidate in candidates if _key(candidate) not in tried]
        for job, seen in runner.map(Job(candidate, fix) for candidate in new):
            tried.add(_key(job.schedule))
            knowledge.learn(seen)
            if same_failure(seen, report) and not seen.unused and not seen.void:
                return job.schedule, seen
        return None

    while True:
        found = first_of(_smaller(schedule, runner.fewest, runner.bodies, held)) or first_of(_earlier(schedule, report, knowledge))
        if found is None:
            return _in_order(schedule, report), report, len(tried) - 1
        schedule, report = found


def _in_order(schedule: Schedule, report: Report) -> Schedule:
    """Its directives as they took place: one schedule has one token."""
    when = {directive: index for index, (directive, _, _) in enumerate(report.switches)}
    return _with(schedule, *sorted(schedule.directives, key=lambda directive: when.get(directive, len(when))))


def _key(schedule: Schedule) -> str:
    return str(schedule.to_json())


def _smaller(schedule: Schedule, fewest: int, bodies: int, held: Collection[str]) -> Iterator[Schedule]:
    """Those that say less first."""
    for threads in range(fewest, schedule.threads):
        for fewer in (_with_threads(schedule, threads), _renamed(schedule, threads, bodies)):
            if fewer is not None:
                yield from _others(fewer)
                yield fewer
    if free := [name for name in schedule.axes if name not in held]:
        yield replace(schedule, axes={name: value for name, value in schedule.axes.items() if name in held})
        for name in free:
            yield replace(schedule, axes={n: value for n, value in schedule.axes.items() if n != name})
    yield from _others(schedule)
    for index, directive in enumerate(schedule.directives):
        if isinstance(directive.action, Collect):
            for generation in range(directive.action.generation):
                younger = replace(directive, action=Collect(generation))
                yield _with(schedule, *schedule.directives[:index], younger, *schedule.directives[index + 1 :])


def _others(schedule: Schedule) -> Iterator[Schedule]:
    """With fewer directives, or as many and the lowest thread first."""
    have = schedule.directives
    firsts = sorted({0, schedule.first})
    if len(have) <= _ALL_SUBSETS:
        for size in range(len(have)):
            for first in firsts:
                for kept in combinations(have, size):
                    yield replace(schedule, first=first, directives=kept)
    else:
        for length in (len(have), len(have) // 2, len(have) // 4, 2, 1):
            for at in range(0, len(have), max(1, length)):
                yield _with(schedule, *have[:at], *have[at + length :])
    if schedule.first:
        yield replace(schedule, first=0)


def _earlier(schedule: Schedule, report: Report, knowledge: Knowledge) -> Iterator[Schedule]:
    """With one directive at an earlier point of its thread: of failures alike, all come to the same form."""
    when = {directive: at for directive, _, at in report.switches}
    positions = sorted(when.values())
    for index, directive in enumerate(schedule.directives):
        until = when.get(directive, 0)
        since = max((at for at in positions if at < until), default=0)
        least = knowledge.worth(directive.point)
        points = [c for c in knowledge.candidates(report, since, max(1, least)) if c.thread == directive.thread]
        for point in [c for c in points if c.position + 1 < until][:_EARLIER]:
            moved = replace(directive, point=point.point, n=point.n)
            yield _with(schedule, *schedule.directives[:index], moved, *schedule.directives[index + 1 :])


def _with(schedule: Schedule, *directives: Directive) -> Schedule:
    return schedule.with_directives(directives)


def _with_threads(schedule: Schedule, threads: int) -> Schedule:
    names = {f"T{index}" for index in range(threads)}
    kept = tuple(
        d for d in schedule.directives
        if d.thread.split(".")[0] in names and (isinstance(d.action, Collect) or d.does.split(".")[0] in names)
    )  # fmt: skip
    return replace(schedule, threads=threads, first=min(schedule.first, threads - 1), directives=kept)


def _renamed(schedule: Schedule, threads: int, bodies: int) -> Schedule | None:
    """The threads of its directives, as the lowest with the same bodies; None where they are more than ``threads``."""
    spoken: set[int] = set()
    for d in schedule.directives:
        spoken |= {_index(name) for name in (d.thread, d.does) if name.startswith("T")}
    new: dict[int, int] = {}
    for old in sorted(spoken):
        new[old] = next(i for i in range(old % bodies, old + 1, bodies) if i not in new.values())
    if max(new.values(), default=0) >= threads:
        return None

    def name(old: str) -> str:
        root, dot, rest = old.partition(".")
        return f"T{new[_index(root)]}{dot}{rest}"

    directives = [
        replace(d, thread=name(d.thread), action=d.action if isinstance(d.action, Collect) else HandOver(name(d.does)))
        for d in schedule.directives
    ]
    return replace(schedule, threads=threads, first=new.get(schedule.first, 0), directives=tuple(directives))


def _index(thread: str) -> int:
    return int(thread[1:].partition(".")[0])
