"""why a schedule fails: lanes, who wrote what was read, the nearest schedule that passes"""

from __future__ import annotations

import argparse
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.errors import CannotTest, UserError
from harness.explain import FORMATS, Story, nearest_pass, tell
from harness.explain.account import difference
from harness.explain.words import sentence
from harness.fixes import fix_of_a_run
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.run.twins import difference as runs_differ
from harness.schedule import Schedule, to_token
from harness.verdict.on_gc import on_gc
from harness.verdict.why import cause_of

from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("schedule", metavar="TOKEN|FILE")
    parser.add_argument("--fix", default="none", metavar="F", help="a fix in force during the run")
    parser.add_argument("--format", choices=tuple(FORMATS), default=None, help="perfetto is a trace for ui.perfetto.dev (default: text)")
    parser.add_argument("--frames", action="store_true", help="also which frames Dynamo's hook was given, skipped, compiled, or ran from its cache")
    shared.add_torch(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it there")


def run(options: argparse.Namespace) -> int:
    if options.json and options.format is not None:
        raise UserError("--json is a format of its own: leave out --format")
    schedule = shared.schedule_from(options.schedule)
    fix = fix_of_a_run(options.fix)
    with Launcher(schedule.scenario, free=schedule.free, jobs=1, python=shared.interpreter(options), fixes=[fix.name]) as launcher:
        shared.check_schedule(schedule, launcher)
        report, cause = cause_of(launcher, schedule, fix.name)
        if report.unused and not report.failed:
            raise CannotTest(f"not aligned: {report.unused[0]} was never passed; search again with `harness find {schedule.scenario}`")
        gc = on_gc(launcher, schedule, report, fix.name)
        other = nearest_pass(launcher, schedule, report, cause, fix.name) if report.failed else None
        framed = _framed(launcher, schedule, report, fix.name) if options.frames else None
        about = {"torch": launcher.about["torch"], "Python": launcher.about["python"], "platform": platform.platform()}
    story = tell(schedule, report, cause, fix=fix.name, environment=about, counterfactual=other, on_gc=gc.says, framed=framed)
    if options.json:
        shared.emit({**_as_json(story), "depends_on_gc": gc.depends})
        return 0
    shared.write(FORMATS[options.format or "text"](story), options.output)
    return 0


def _framed(launcher: Launcher, schedule: Schedule, report: Report, fix: str) -> Report:
    """Raises CannotTest where the run is another one when its frames are recorded."""
    framed = launcher.run(Job(schedule, fix, detail=True, frames=True))
    if framed.digest != report.digest:
        raise CannotTest(f"--frames: the run is another one with them: {runs_differ(report, framed)}")
    return framed


def _as_json(story: Story) -> dict[str, Any]:
    cause, other = story.cause, story.counterfactual
    return {
        "outcome": story.report.outcome,
        "signature": story.report.signature,
        "state": cause.state if cause else "",
        "proved": cause.proved if cause else False,
        "cause": sentence(cause, story.report),
        "write": cause.write if cause else None,
        "read": cause.read if cause else None,
        "then": cause.then if cause else None,
        "collected": [asdict(made) for made in story.report.collections],
        "trail": cause.trail if cause else [],
        **({"frames": [asdict(seen) for seen in story.framed.frames]} if story.framed is not None else {}),
        "counterfactual": {
            "token": to_token(other.schedule),
            "differs": difference(story),
            "tried": other.tried,
        } if other else None,
    }  # fmt: skip
