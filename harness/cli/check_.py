"""judge fixes: the schedules that fail without one are run with it, and the search is repeated under it"""

from __future__ import annotations

import argparse
import sys

from harness.errors import UserError
from harness.fixes import Fix, find_fix, fix_names
from harness.run.launch import Launcher
from harness.schedule import Schedule, to_token
from harness.search.certify import negative
from harness.verdict import control_arm, judge

from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", metavar="SCENARIO|TOKEN")
    parser.add_argument("--fix", action="append", default=[], metavar="F", help="which fixes, by name or your own as file.py:name (default: all that are for this scenario)")
    parser.add_argument("--require", choices=("holds",), help="exit 1 if a named fix falls short")
    parser.add_argument("--threads", type=shared.threads, metavar="N", help="how many threads")
    parser.add_argument("--axis", action="append", default=[], metavar="NAME=VALUE", help="choose a value of an axis")
    shared.add_runs(parser)
    shared.add_search(parser, 600)


def run(options: argparse.Namespace) -> int:
    fixes = [find_fix(name) for name in options.fix]
    known = None
    if options.scenario.startswith("race") and "," in options.scenario:
        known = shared.schedule_from(options.scenario)
        options.scenario = known.scenario
        if options.mode is not None and (options.mode == "free") != known.free:
            raise UserError("--mode: the token says otherwise")
    free = known.free if known else options.mode == "free"
    with Launcher(options.scenario, free=free, jobs=options.jobs, python=shared.interpreter(options)) as launcher:
        if known is not None:
            shared.check_schedule(known, launcher)
        fixes = fixes or _all(torch=bool(launcher.about["torch"]))
        counts = shared.thread_counts(options, launcher)
        if len(counts) != 1:
            raise UserError("--threads: one number; a verdict is about one thread count")
        threads = known.threads if known and options.threads is None else counts[0]
        axes = {**(known.axes if known else {}), **shared.axes(options, launcher)}
        base = Schedule(options.scenario, threads, free=free, axes=axes)
        _say(options, f"control arm: {options.scenario} without a fix")
        bar = shared.Progress("  without a fix", options.budget)
        control = control_arm(
            launcher, base, budget=options.budget, seed=options.seed, known=known, progress=bar
        )
        bar.end()
        rows = []
        for fix in fixes:
            _say(options, f"{fix.name}: {len(control.failing)} failing schedules, then the search")
            bar = shared.Progress(f"  {fix.name}", options.budget)
            rows.append(
                judge(launcher, base, fix, control, budget=options.budget, seed=options.seed, progress=bar)
            )
            bar.end()
        torch = launcher.about["torch"]
    if options.json:
        shared.emit(
            {
                "scenario": options.scenario,
                "torch": torch,
                "control": {"schedules": control.schedules, "failing": len(control.failing)},
                "rows": [
                    {
                        "fix": row.fix, "verdict": row.verdict, "schedules": row.schedules, "points": row.points,
                        "why": row.why, "rests_on": row.rests_on, "token": to_token(row.failing) if row.failing else "",
                    }
                    for row in rows
                ],
            }
        )  # fmt: skip
    else:
        says = "" if control.failing else f" ({negative(control.explored).says})"
        print(f"control: {len(control.failing)} failing of {control.schedules} schedules without a fix{says}")
        for row in rows:
            print(f"{row.fix:20} {row.verdict:9} {row.schedules} schedules, {row.points} points")
            print(f"{'':20} why: {row.why}")
            print(f"{'':20} rests on: {row.rests_on}")
            if row.failing:
                print(f"{'':20} harness replay {to_token(row.failing)} --fix {row.fix}")
    named = [row for row in rows if row.fix != "none"]
    return int(options.require == "holds" and any(row.verdict != "holds" for row in named))


def _all(torch: bool) -> list[Fix]:
    """Those that are about torch are for scenarios with torch."""
    every = [find_fix(name) for name in ("none", *fix_names())]
    return [fix for fix in every if torch or fix.processes or fix.name == "none"]


def _say(options: argparse.Namespace, text: str) -> None:
    print(text, file=sys.stderr)
