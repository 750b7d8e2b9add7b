"""Options and their meanings that several commands share."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from harness import releases
from harness.errors import UserError
from harness.run.launch import Launcher
from harness.scenario.threads import in_words
from harness.schedule import Schedule, from_token, read_file
from harness.search import Exploration, Space


def count(text: str) -> int:
    """A whole number of at least 1."""
    if not re.fullmatch(r"\d{1,9}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def threads(text: str) -> tuple[int, int]:
    """``2`` or ``2-8``."""
    match = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", text)
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= low <= high:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of thread counts (2, or 2-8, fewest first)")
    return low, high


def add_scenario(
    parser: argparse.ArgumentParser, default: str = "the fewest that make sense", several: bool = False
) -> None:
    what = "a built-in name, file.py:name or package.module:name"
    parser.add_argument("scenario", metavar="SCENARIO", nargs="+" if several else None, help=what)
    parser.add_argument("--threads", type=threads, metavar="N[-M]", help=f"how many threads (default: {default})")
    parser.add_argument("--axis", action="append", default=[], metavar="NAME=VALUE", help="choose a value of one of the scenario's axes")
    add_runs(parser)


def add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mode", choices=("gil", "free"), default=None, help="hand over only where the GIL could change hands (default), or anywhere")
    add_torch(parser)
    parser.add_argument("--jobs", type=count, metavar="N", help="runs at the same time (default: one a core)")


def add_torch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--torch", default="", metavar="VERSION", help="another release of torch, in its environment (`harness env add VERSION`)")
    parser.add_argument("--python", default="", metavar="X.Y", help="the Python of that environment (default: that of this one)")


def interpreter(options: argparse.Namespace) -> str | None:
    """Of the release asked for: its environment, or this one where it has it; None is this one. Raises UserError where there is none."""
    if not options.torch:
        if options.python:
            raise UserError("--python: of which release? (--torch VERSION)")
        return None
    found = releases.at_hand(options.torch, options.python)
    if found is None:
        add = f"harness env add {options.torch}" + (f" --python {options.python}" if options.python else "")
        raise UserError(f"there is no environment of torch {options.torch}; make one: {add}")
    return found.interpreter


def add_search(parser: argparse.ArgumentParser, budget: int) -> None:
    parser.add_argument("--budget", type=count, default=budget, metavar="N", help=f"schedules at most (default {budget})")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed is the same search (default 0)")


def thread_counts(options: argparse.Namespace, launcher: Launcher) -> range:
    low, high = launcher.about["threads"]
    asked = options.threads or (low, low)
    if not low <= asked[0] <= asked[1] <= high:
        raise UserError(f"--threads: {options.scenario} makes sense with {in_words(low, high)}")
    return range(asked[0], asked[1] + 1)


def axes(options: argparse.Namespace, launcher: Launcher) -> dict[str, Any]:
    declared, chosen = launcher.about["axes"], {}
    for item in options.axis:
        name, equals, text = item.partition("=")
        if not equals or name not in declared:
            raise UserError(f"--axis {item!r}: {options.scenario} has the axes {', '.join(declared) or '(none)'}")
        match = [value for value in declared[name] if str(value) == text or json.dumps(value) == text]
        if not match:
            raise UserError(f"--axis {name}: {text!r} is none of {', '.join(map(str, declared[name]))}")
        chosen[name] = match[0]
    return chosen


def axes_as_said(items: list[str]) -> dict[str, Any]:
    """Before a scenario is loaded that could say which there are: JSON, or else text."""
    chosen: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier():
            raise UserError(f"--axis {item!r}: NAME=VALUE")
        try:
            chosen[name] = json.loads(text)
        except ValueError:
            chosen[name] = {"True": True, "False": False, "None": None}.get(text, text)
    return chosen


def space(options: argparse.Namespace, launcher: Launcher) -> Space:
    """What ``--threads`` and ``--axis`` leave to be drawn: thread counts and values of axes."""
    if options.threads is None:
        low, high = launcher.about["threads"]
        counts = range(low, high + 1)
    else:
        counts = thread_counts(options, launcher)
    held = axes(options, launcher)
    free = {name: values for name, values in launcher.about["axes"].items() if name not in held}
    home = Schedule(options.scenario, counts[0], free=options.mode == "free", axes=held)
    return Space(home, counts, free)


def schedule_from(text: str) -> Schedule:
    """From a token, or the name of a schedule file."""
    if text.endswith(".json") or os.path.isfile(text):  # which says no to a name that is too long to be one
        return read_file(Path(text))[0]
    return from_token(text)


def check_schedule(schedule: Schedule, launcher: Launcher) -> None:
    """Does the scenario, as it is now, have these axes and this many threads?"""
    low, high = launcher.about["threads"]
    if not low <= schedule.threads <= high:
        raise UserError(f"{schedule.scenario}: the schedule has {schedule.threads} threads; it makes sense with {low} to {high}")
    for name, value in schedule.axes.items():
        values = launcher.about["axes"].get(name)
        if values is None or value not in values:
            raise UserError(f"{schedule.scenario}: the schedule says {name}={value!r}, which the scenario does not have")


class Progress:
    """One line on standard error, rewritten; nothing where standard error is no terminal."""

    def __init__(self, what: str, budget: int) -> None:
        self.what, self.budget = what, budget
        self.shown = sys.stderr.isatty()

    def __call__(self, found: Exploration) -> None:
        if self.shown:
            done = min(20, 20 * found.schedules // max(1, self.budget))
            bar = "#" * done + "." * (20 - done)
            print(f"\r{self.what} [{bar}] {found.schedules} schedules, {len(found.failures)} failing", end="", file=sys.stderr)

    def end(self) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr)


def emit(data: dict[str, Any]) -> None:
    print(json.dumps(data))


def write(text: str, output: Path | None) -> None:
    """To a file, or to standard output. Raises UserError where the file cannot be written."""
    text = text.rstrip("\n") + "\n"
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{output}: {error.strerror}") from None
