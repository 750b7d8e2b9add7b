"""search for a failing schedule, reduce it, replay it, say why; exit 1 found, 0 none in the budget"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.explain import as_text
from harness.explain.cause import Cause
from harness.explain.text import sentence
from harness.fixes import fix_of_a_run
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.run.twins import Twins, difference
from harness.schedule import Schedule, to_token, write_file
from harness.search import STRATEGIES, Exploration, explore
from harness.search.again import Unrepeated, smallest
from harness.search.certify import negative
from harness.search.remarks import remarks
from harness.verdict.on_gc import on_gc
from harness.verdict.why import cause_of

from . import campaign
from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_scenario(parser, "drawn, the fewest that make sense first", several=True)
    shared.add_search(parser, 1000)
    campaign.arguments(parser)
    parser.add_argument("--fix", default="none", metavar="F", help="a fix in force during every run")
    parser.add_argument("--seconds", type=shared.seconds, metavar="S", help="time at most")
    parser.add_argument("--strategy", choices=STRATEGIES, default="portfolio")
    parser.add_argument("--times", type=shared.count, default=5, metavar="N", help="replays of what was found (default 5)")
    parser.add_argument("--twins", action="store_true", help="make every run twice and say where two runs differ")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the schedule as a JSON file too")


def run(options: argparse.Namespace) -> int:
    fix = fix_of_a_run(options.fix)
    if options.store is not None:
        return campaign.run(options)
    campaign.none_of_it(options)
    options.scenario = options.scenario[0]
    options.no_switch = "fails without any switch when T{} starts, so it is no matter of timing"
    began = time.monotonic()
    with Launcher(options.scenario, free=options.mode == "free", jobs=options.jobs, python=shared.interpreter(options), fixes=[fix.name]) as launcher:
        runner = Twins(launcher) if options.twins else launcher
        found = search(options, launcher, runner, fix.name)
        data, text, artefact = answer(options, launcher, runner, found)
        data["seconds"] = round(time.monotonic() - began, 3)
    say(options, data, text, artefact)
    return int(bool(found.failures))


Artefact = tuple[Schedule, dict[str, object]]


def answer(
    options: argparse.Namespace, launcher: Launcher, runner: Any, found: Exploration
) -> tuple[dict[str, Any], str, Artefact | None]:
    """(for ``--json``, for people, what ``--output`` holds where something was found) of a search that is over."""
    failure = None
    if found.failures:
        try:
            failure = _smallest(options, launcher, found)
        except KeyboardInterrupt:  # what was found is not lost with what was to be made of it
            print(f"harness: found, not yet reduced: {to_token(found.failures[0][0])}", file=sys.stderr)
            raise
    data: dict[str, Any] = {
        "scenario": options.scenario,
        "torch": launcher.about["torch"],
        "python": launcher.about["python"],
        "mode": options.mode or "gil",
        "fix": options.fix,
        "found": bool(found.failures),
        "outcome": "ok",
        "signature": "",
        "state": "",
        "states": launcher.about["states"],
        "schedules": found.schedules,
        "points": found.points,
        "void": found.void,
        "threads": launcher.about["threads"][0] if options.threads is None else options.threads[0],
        "shapes": [vars(part) for part in found.parts],
        "miss_depth_2": found.chance.miss if found.chance is not None else None,
        "token": "",
        "switches": 0,
        "collections": 0,
        "depends_on_gc": False,
        "collected": [],
        "replay": {"times": 0, "same": 0},
        "unrepeated": [never.says for never in found.unrepeated],
        "certain": negative(found).certain,
        "rests_on": negative(found).says,
        "remarks": remarks(found, launcher.about["beside"]),
    }
    text = "\n".join([f"none found: {negative(found).says}", *remarks(found, launcher.about["beside"])])
    if found.void and options.mode != "free":
        text += "\n(--mode free also switches where only a free-threaded interpreter could)"
    artefact: Artefact | None = None
    if failure is not None:
        text, artefact = _failure(options, launcher, found, failure, data)
    if isinstance(runner, Twins):
        data["twins"] = {"pairs": runner.pairs, "differing": len(runner.differing)}
        text += f"\ntwins     {runner.pairs} runs made twice, {len(runner.differing)} of them differ"
        for job, says in runner.differing[:1]:
            text += f"\n          {says}\n          {to_token(job.schedule)}"
    return data, text, artefact


def say(options: argparse.Namespace, data: dict[str, Any], text: str, artefact: Artefact | None) -> None:
    if options.json:
        shared.emit(data)
    else:
        print(text)
    if options.output is not None and artefact is not None:  # last: a full disk does not take the answer with it
        sys.stdout.flush()
        write_file(options.output, artefact[0], **artefact[1])


def search(options: argparse.Namespace, launcher: Launcher, runner: Any, fix: str, spent: float = 0.0) -> Exploration:
    """``spent``: seconds of those that were asked for."""
    space = shared.space(options, launcher)
    seconds = None if options.seconds is None else max(0.0, options.seconds - spent)
    progress = shared.Progress(options.scenario, options.budget)
    found = explore(
        runner, space.home, space=space, fix=fix, budget=options.budget, seconds=seconds, seed=options.seed,
        strategy=options.strategy, progress=progress,
    )  # fmt: skip
    if found.limit.endswith(" s"):
        found.limit = f"{options.seconds:g} s"
    progress.end()
    return found


def _hint(cause: Cause | None, report: Report) -> list[str]:
    """Where a thread's hand-over made the difference and no state is named, it may lie where nothing was looked for."""
    if (cause is not None and cause.state) or report.outcome in ("deadlock", "hang", "crash"):
        return []
    if report.collections and len(report.collections) == len(report.directives):  # no hand-over: what it ran is told
        return []
    return ["hint      no state is named: where it is a library's, add that to the scenario's modules (harness run: --module)"]


Failure = tuple[Schedule, Report, list[Report]]


def _smallest(options: argparse.Namespace, launcher: Launcher, found: Exploration) -> Failure | None:
    """The failure that was found, reduced; None where it does not come back any more, and then it is not found."""
    first, report = found.failures[0]
    reduced = smallest(launcher, first, report, options.fix, shared.axes(options, launcher), options.times)
    if isinstance(reduced, Unrepeated):
        found.unrepeated, found.failures = [reduced], []
        return None
    return reduced


def _failure(
    options: argparse.Namespace, launcher: Launcher, found: Exploration, failure: Failure, data: dict[str, object]
) -> tuple[str, Artefact]:
    """(what to print, what to write into a file); fills ``data``."""
    first, _ = found.failures[0]
    schedule, report, replays = failure
    same = sum(again.digest == report.digest for again in replays)
    failing = sum(again.failed for again in replays)
    apart = next((says for again in replays if (says := difference(report, again))), "")
    recorded, cause = cause_of(launcher, schedule, options.fix)
    if not recorded.failed:  # it fails now and then
        recorded, cause = report, None
    gc = on_gc(launcher, schedule, report, options.fix)
    token = to_token(schedule)
    data.update(
        outcome=report.outcome,
        threads=schedule.threads,
        signature=report.signature,
        state=cause.state if cause is not None else "",
        cause=sentence(cause, recorded),
        token=token,
        directives=[str(directive) for directive in schedule.directives],
        switches=sum(1 for d in schedule.directives if not d.does.startswith("gc")),
        collections=sum(1 for d in schedule.directives if d.does.startswith("gc")),
        depends_on_gc=gc.depends,
        collected=[asdict(made) for made in recorded.collections],
        replay={"times": options.times, "same": same},
        uncontrolled=apart,
        rests_on=f"{found.schedules} schedules over {found.points} points",
    )
    artefact = {
        "token": token, "original": first.to_json(), "original_token": to_token(first), "fix": options.fix,
        "outcome": report.outcome, "signature": report.signature, "digest": launcher.about["digest"],
        "torch": data["torch"], "python": data["python"], "platform": platform.platform(),
    }  # fmt: skip
    text = "\n".join(
        [
            (
                f"found after {found.schedules} schedule{'s' if found.schedules != 1 else ''} over {found.points} points; "
                if schedule.directives
                else f"{options.no_switch.format(schedule.first)}; "
            )
            + f"replayed {same} of {options.times} times"
            + (f", failed again {failing} of {options.times}" if same < options.times else ""),
            *([f"NOT under control: {apart}"] if apart else []),
            as_text(schedule, recorded, cause, gc.says, options.fix),
            *_hint(cause, report),
            f"token     {token}",
        ]
    )
    return text, (schedule, artefact)
