"""Environments that stand for releases of torch, and have none: each tells a program which release it stands for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from harness.releases import cache

#: A scenario with a lost update from release 9.2.0 up to, and not with, 9.5.0; in 9.4.0 it takes another form.
RACY = """
import os
from harness import Scenario, marker

RELEASE = tuple(int(part) for part in os.environ["FAKE_TORCH"].split("."))

class Counter:
    value = 0

def kept(counter):
    counter.value += 1

def lost(counter):
    seen = counter.value
    marker("between" if RELEASE < (9, 4) else "amid")
    counter.value = seen + 1

def other(counter):
    raise KeyError("another failure")

def body(counter):
    if RELEASE == OTHER:
        other(counter)
    elif (9, 2) <= RELEASE < (9, 5):
        lost(counter)
    else:
        kept(counter)

def check(counter, results):
    assert counter.value == 2, f"lost: {counter.value}"

scenario = Scenario([body, body], setup=lambda axes: Counter(), check=check, threads=(2, 2), points=["names"])
"""


def environments(folder: Path, releases: Iterable[str], python: str = "") -> None:
    """``folder`` is what HARNESS_ENVS names."""
    python = python or cache.this_python()
    for release in releases:
        path = folder / f"torch-{release}-py{python}"
        (path / "bin").mkdir(parents=True)
        interpreter = path / "bin" / "python"
        interpreter.write_text(f'#!/bin/sh\nexport FAKE_TORCH={release}\nexec {sys.executable} "$@"\n')
        interpreter.chmod(0o755)
        (path / "ready.json").write_text(json.dumps({"source": "cpu"}))


def racy(folder: Path, other: tuple[int, ...] = ()) -> str:
    path = folder / "racy.py"
    path.write_text(RACY.replace("OTHER", repr(other)))
    return str(path)
