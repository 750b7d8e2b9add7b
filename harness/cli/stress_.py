"""plain threads, no control: how often does chance find it?"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from harness.errors import UserError
from harness.fixes import fix_of_a_run
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule

from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_scenario(parser)
    parser.add_argument("--runs", type=shared.count, default=100, metavar="N", help="how many runs (default 100)")
    parser.add_argument("--fix", default="none", metavar="F", help="a fix in force during every run")


def run(options: argparse.Namespace) -> int:
    if options.mode is not None:
        raise UserError("--mode: plain threads have none")
    fix = fix_of_a_run(options.fix)
    if fix.processes:
        raise UserError(f"--fix {fix.name}: plain threads cannot be processes")
    began = time.monotonic()
    with Launcher(options.scenario, jobs=options.jobs, python=shared.interpreter(options), fixes=[fix.name]) as launcher:
        counts = shared.thread_counts(options, launcher)
        if len(counts) != 1:
            raise UserError("--threads: one number; plain threads are run in one number at a time")
        axes = shared.axes(options, launcher)
        base = Schedule(options.scenario, counts[-1], axes=axes)
        seen: Counter[str] = Counter()
        for _, report in launcher.map(Job(base, fix.name, plain=True) for _ in range(options.runs)):
            seen[f"{report.outcome}: {report.signature}" if report.signature else report.outcome] += 1
    failed = sum(times for outcome, times in seen.items() if outcome != "ok")
    seconds = time.monotonic() - began
    if options.json:
        shared.emit({"scenario": options.scenario, "runs": options.runs, "failed": failed, "outcomes": dict(seen), "seconds": round(seconds, 3)})
    else:
        print(f"{failed} of {options.runs} runs on {counts[-1]} plain threads failed, {seconds:.1f} s")
        for outcome, times in seen.most_common():
            print(f"{times:6} {outcome}")
    return 0
