"""somebody's program or tests under control, without a scenario; exit 1 a schedule fails, 0 none found"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from harness.errors import CannotTest, NeedsRestart, UserError
from harness.explain.words import short_path
from harness.fixes import fix_of_a_run
from harness.program import PREFIX, Command, from_arguments, from_reference
from harness.program.controls import Controls, controls
from harness.run.launch import Launcher
from harness.schedule import Schedule
from harness.search import STRATEGIES

from . import find_, replay_
from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", nargs="*", metavar="-- PROGRAM", help="python prog.py …, python -m module …, or pytest …")
    parser.add_argument("--module", action="append", default=None, metavar="M", help="packages whose process-wide state has points (default: what is in the program's folder, and torch's where it is imported)")
    parser.add_argument("--fine", action="append", default=None, metavar="M", help="modules in which every place is a point, as in the program's own file or tests")
    parser.add_argument("--restart", action="store_true", default=None, help="begin every run at the program's beginning, not at its first thread")
    parser.add_argument("--run-seconds", type=shared.seconds, default=None, metavar="S", help="a run that takes longer is a hang (default 60)")
    parser.add_argument("--replay", metavar="TOKEN|FILE", help="run that schedule again instead of searching")
    shared.add_search(parser, 1000)
    parser.add_argument("--seconds", type=shared.seconds, metavar="S", help="time at most")
    parser.add_argument("--strategy", choices=STRATEGIES)
    parser.add_argument("--times", type=shared.count, default=None, metavar="N", help="replays (default 5 of what was found, 1 with --replay)")
    parser.add_argument("--fix", default="none", metavar="F", help="a fix in force from the first thread on")
    shared.add_runs(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the schedule as a JSON file too")
    parser.set_defaults(budget=None, seed=None)  # to be told from those that were given beside --replay


def run(options: argparse.Namespace) -> int:
    if fix_of_a_run(options.fix).processes:
        raise UserError(f"--fix {options.fix}: a program has no bodies that could be processes")
    if options.replay is not None:
        return _replay(options)
    command = _command(options)
    try:
        return _find(options, command)
    except NeedsRestart as error:
        print(f"harness: {str(error).removesuffix('; use --restart')}: each run begins at the program's first line, as with --restart", file=sys.stderr)
        return _find(options, command.restarted())
    except _FailsAlways as error:
        return _from_the_beginning(options, command, error)


class _FailsAlways(CannotTest):
    """In whatever order, where runs begin at the program's first thread."""


def _from_the_beginning(options: argparse.Namespace, command: Command, error: _FailsAlways) -> int:
    """A fork has another process id, for one; a program that notices fails in every fork."""
    try:
        found = _find(options, command.restarted())
    except CannotTest:
        raise error from None
    print(f"harness: {command.line}: fails in every fork at its first thread: tried from its beginning, as with --restart", file=sys.stderr)
    return found


def _command(options: argparse.Namespace) -> Command:
    said: dict[str, Any] = {"modules": tuple(options.module or ()), "fine": tuple(options.fine or ()), "restart": bool(options.restart)}
    if options.run_seconds is not None:
        said["seconds"] = options.run_seconds
    return from_arguments(options.program, **said)


def _replay(options: argparse.Namespace) -> int:
    schedule = shared.schedule_from(options.replay)
    if not schedule.scenario.startswith(PREFIX):
        raise UserError(f"--replay: that schedule is of the scenario {schedule.scenario}; `harness replay` runs it")
    of = from_reference(schedule.scenario)
    if options.program and from_arguments(options.program).words != of.words:
        raise UserError(f"--replay: that schedule is of another program: {of.line}")
    for name in ("module", "fine", "restart", "run_seconds", "mode", "output", "seconds", "budget", "seed", "strategy"):
        if getattr(options, name) is not None:
            raise UserError(f"--replay: --{name.replace('_', '-')} is for a search; the token says how it is run")
    options.schedule, options.times = options.replay, options.times or 1
    return replay_.run(options)


def _find(options: argparse.Namespace, command: Command) -> int:
    began = time.monotonic()
    options.scenario, options.threads, options.axis, options.times = command.reference, None, [], options.times or 5
    options.budget, options.seed, options.strategy = options.budget or 1000, options.seed or 0, options.strategy or "portfolio"
    options.no_switch = "fails where main goes on until it waits, without any switch, and not in every order (see controls)"
    with Launcher(command.reference, free=options.mode == "free", jobs=options.jobs, python=shared.interpreter(options), fixes=[options.fix]) as launcher:
        seen = controls(launcher, Schedule(command.reference, 1, free=options.mode == "free"), options.fix)
        if seen.differ and not command.restart:
            raise NeedsRestart(f"{command.line}: two runs without a switch differ ({seen.differ}); use --restart")
        if seen.always is not None:
            kind = CannotTest if command.restart or seen.always.outcome == "hang" else _FailsAlways
            raise kind(f"{command.line} fails in whatever order, so it is no matter of timing: {seen.always.outcome}: {seen.always.message}")
        found = find_.search(options, launcher, launcher, options.fix, time.monotonic() - began)
        data, text, artefact = find_.answer(options, launcher, launcher, found)
        data["seconds"] = round(time.monotonic() - began, 3)
    data |= {"program": command.words, "restart": command.restart, "controls": _as_json(seen)}
    text += "\n" + _controls(seen)
    find_.say(options, data, text, artefact)
    return int(bool(found.failures))


def _as_json(seen: Controls) -> dict[str, str]:
    return {name: run.outcome for name, run in seen.by_name.items()}


def _controls(seen: Controls) -> str:
    lines = [f"controls  {short_path(seen.says())}"]
    if seen.differ:
        lines.append(f"NOT under control: two runs without a switch differ: {seen.differ}")
    return "\n".join(lines)


