"""why a schedule fails: which state, who wrote it, who read it"""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.errors import UserError
from harness.explain import as_text
from harness.explain.text import sentence
from harness.fixes import find_fix
from harness.run.launch import Launcher
from harness.verdict.why import cause_of

from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("schedule", metavar="TOKEN|FILE")
    parser.add_argument("--fix", default="none", metavar="F", help="a fix in force during the run")
    shared.add_torch(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it there")


def run(options: argparse.Namespace) -> int:
    schedule = shared.schedule_from(options.schedule)
    fix = find_fix(options.fix)
    with Launcher(schedule.scenario, free=schedule.free, jobs=1, python=shared.interpreter(options)) as launcher:
        shared.check_schedule(schedule, launcher)
        report, cause = cause_of(launcher, schedule, fix.name)
    if options.json:
        shared.emit(
            {
                "outcome": report.outcome,
                "signature": report.signature,
                "state": cause.state if cause else "",
                "cause": sentence(cause, report),
                "write": cause.write if cause else None,
                "read": cause.read if cause else None,
                "trail": cause.trail if cause else [],
            }
        )
        return 0
    text = as_text(schedule, report, cause)
    if options.output is not None:
        try:
            options.output.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise UserError(f"{options.output}: {error.strerror}") from None
    else:
        print(text)
    return 0
