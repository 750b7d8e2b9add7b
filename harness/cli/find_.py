"""search for a failing schedule, reduce it, replay it, say why; exit 1 found, 0 none in the budget"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path

from harness.explain import as_text
from harness.explain.text import sentence
from harness.fixes import find_fix
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule, to_token, write_file
from harness.search import STRATEGIES, Exploration, explore
from harness.search.certify import negative
from harness.search.reduce import reduce
from harness.verdict.why import cause_of

from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_scenario(parser)
    shared.add_search(parser, 400)
    parser.add_argument("--fix", default="none", metavar="F", help="a fix in force during every run")
    parser.add_argument("--seconds", type=shared.seconds, metavar="S", help="time at most")
    parser.add_argument("--strategy", choices=STRATEGIES, default="portfolio")
    parser.add_argument("--times", type=shared.count, default=5, metavar="N", help="replays of what was found (default 5)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the schedule as a JSON file too")


def run(options: argparse.Namespace) -> int:
    fix = find_fix(options.fix)
    began = time.monotonic()
    with Launcher(options.scenario, free=options.mode == "free", jobs=options.jobs, python=shared.interpreter(options)) as launcher:
        found, base = _search(options, launcher, fix.name)
        data = {
            "scenario": options.scenario,
            "torch": launcher.about["torch"],
            "python": launcher.about["python"],
            "mode": options.mode or "gil",
            "fix": fix.name,
            "found": bool(found.failures),
            "outcome": "ok",
            "signature": "",
            "state": "",
            "states": launcher.about["states"],
            "schedules": found.schedules,
            "points": found.points,
            "void": found.void,
            "threads": base.threads,
            "token": "",
            "switches": 0,
            "collections": 0,
            "replay": {"times": 0, "same": 0},
            "certain": negative(found).certain,
            "rests_on": negative(found).says,
        }
        text = f"none found: {negative(found).says}"
        if found.void and options.mode != "free":
            text += "\n(--mode free also switches where only a free-threaded interpreter could)"
        if found.failures:
            text = _failure(options, launcher, found, data)
        data["seconds"] = round(time.monotonic() - began, 3)
    if options.json:
        shared.emit(data)
    else:
        print(text)
    return int(bool(found.failures))


def _search(options: argparse.Namespace, launcher: Launcher, fix: str) -> tuple[Exploration, Schedule]:
    axes = shared.axes(options, launcher)
    counts = shared.thread_counts(options, launcher)
    found, base = Exploration(), Schedule(options.scenario, counts[0])
    left = options.budget
    for place, threads in enumerate(counts):
        base = Schedule(options.scenario, threads, free=options.mode == "free", axes=axes)
        progress = shared.Progress(f"{options.scenario}, {threads} threads", options.budget)
        share = left // (len(counts) - place)
        part = explore(
            launcher, base, fix=fix, budget=max(1, share), seconds=options.seconds, seed=options.seed,
            strategy=options.strategy, progress=progress,
        )  # fmt: skip
        progress.end()
        part.schedules += found.schedules
        part.limit = part.limit or found.limit
        left -= part.schedules - found.schedules
        found = part
        if found.failures:
            break
    return found, base


def _failure(options: argparse.Namespace, launcher: Launcher, found: Exploration, data: dict[str, object]) -> str:
    first, report = found.failures[0]
    schedule, report, _ = reduce(launcher, first, report, options.fix)
    same = sum(
        again.digest == report.digest
        for _, again in launcher.map(Job(schedule, options.fix) for _ in range(options.times))
    )
    recorded, cause = cause_of(launcher, schedule, options.fix)
    token = to_token(schedule)
    data.update(
        outcome=report.outcome,
        signature=report.signature,
        state=cause.state if cause is not None else "",
        cause=sentence(cause, recorded),
        token=token,
        directives=[str(directive) for directive in schedule.directives],
        switches=sum(1 for d in schedule.directives if not d.does.startswith("gc")),
        collections=sum(1 for d in schedule.directives if d.does.startswith("gc")),
        replay={"times": options.times, "same": same},
        rests_on=f"{found.schedules} schedules over {found.points} points",
    )
    if options.output is not None:
        write_file(
            options.output, schedule, token=token, original=first.to_json(), fix=options.fix, outcome=report.outcome,
            signature=report.signature, torch=data["torch"], python=data["python"], platform=platform.platform(),
        )  # fmt: skip
    fix = f" --fix {options.fix}" if options.fix != "none" else ""
    return "\n".join(
        [
            (
                f"found after {found.schedules} schedules over {found.points} points; "
                if schedule.directives
                else f"fails without any switch when T{schedule.first} starts, so it is no matter of timing; "
            )
            + f"replayed {same} of {options.times} times",
            as_text(schedule, recorded, cause) + fix,
            f"token     {token}",
        ]
    )
