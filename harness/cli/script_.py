"""a stand-alone script, torch and the standard library only, that fails in the same way; exit 0 written and tried"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.errors import CannotTest, UserError
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.script import make

from . import options as shared

_SECONDS = 600.0  # for one try; an end that never comes is reported, it decides nothing else


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("schedule", metavar="TOKEN|FILE")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the script")
    parser.add_argument("--times", type=shared.count, default=1, metavar="N", help="try it N times (default 1)")
    shared.add_torch(parser)


def run(options: argparse.Namespace) -> int:
    if options.output.exists() and not options.output.is_file():
        raise UserError(f"{options.output}: not a file that a script could be")
    schedule = shared.schedule_from(options.schedule)
    python = shared.interpreter(options)
    with Launcher(schedule.scenario, free=schedule.free, jobs=1, python=python) as launcher:
        shared.check_schedule(schedule, launcher)
        text = make(schedule, launcher.run(Job(schedule)), launcher.about, python or sys.executable)
    try:
        options.output.write_text(text, encoding="utf-8")
        options.output.chmod(0o755)
    except OSError as error:
        raise UserError(f"{options.output}: {error.strerror}") from None
    failed = sum(_fails(options.output, python or sys.executable) for _ in range(options.times))
    if failed < options.times:
        raise CannotTest(f"{options.output}: written, but only {failed} of {options.times} runs of it failed in the same way")
    if options.json:
        shared.emit({"file": str(options.output), "times": options.times, "reproduced": failed})
    else:
        print(f"{options.output}: {failed} of {options.times} runs failed in the same way")
    return 0


def _fails(script: Path, python: str) -> bool:
    """In an empty folder, and where this project is not to be found."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [python, "-I", str(script.resolve())], cwd=folder, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 1 and b"REPRODUCED" in done.stdout
