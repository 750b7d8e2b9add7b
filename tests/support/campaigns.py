"""Small campaigns: scenarios without torch that fail in known ways, and the command that searches them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.programs import write

import harness

LOST = """
value = 0
def successor(number):
    return number + 1
def add(shared):
    global value
    seen = value
    value = successor(seen)
    successor(seen)
def check(shared, results):
    assert value == 2, f"{value}"
scenario = Scenario([add, add], check=check)
"""
TWO_WAYS = """
def body(log):
    log.append(thread_index())
    marker("between")
    log.append(thread_index())
    if log == [0, 1, 0]:
        raise LookupError("zero came back")
def check(log, results):
    assert log in ([0, 0, 1, 1], [1, 1, 0, 0]), "mixed"
scenario = Scenario([body, body], setup=lambda axes: [], check=check)
"""
SAFE = """
scenario = Scenario([lambda shared: marker("a"), lambda shared: None])
"""


def scenarios(folder: Path) -> list[str]:
    return [write(folder, LOST, "lost"), write(folder, TWO_WAYS, "two_ways"), write(folder, SAFE, "safe")]


#: Small, but with more rounds than one: all of it takes seconds.
SIZE = ("--budget", "24", "--seeds", "2", "--times", "2")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(harness.__file__).parents[1])}


def start(arguments: list[str], *, program: str = "", stderr: int | None = subprocess.PIPE) -> subprocess.Popen[str]:
    """``harness find …`` in a process of its own; ``program``: Python that is run before."""
    code = f"{program}\nimport sys\nfrom harness.cli import main\nsys.exit(main(sys.argv[1:]))"
    return subprocess.Popen(
        [sys.executable, "-c", code, "find", *arguments],
        env=environment(), stdout=subprocess.PIPE, stderr=stderr, text=True,
    )  # fmt: skip


def finished(arguments: list[str], **how: str) -> tuple[int, str, str]:
    process = start(arguments, **how)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err
