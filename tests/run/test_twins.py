"""Two runs of one schedule are compared; what is not under control is named by the first point at which they differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.programs import write

from harness.cli import main
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.run.twins import Twins, difference
from harness.schedule import Schedule

BY_CHANCE = """
def body(shared):
    for _ in range(os.urandom(1)[0] % 16):
        marker("again")

scenario = Scenario([body, body])
"""
ALIKE = """
def body(shared):
    for _ in range(3):
        marker("again")

scenario = Scenario([body, body])
"""


def report(*points: str, **other: str) -> Report:
    return Report(log=[("T0", point, 0) for point in points], digest=" ".join(points) + str(other), **other)


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        (report("a", "b"), report("a", "b"), ""),
        (report("a", "b"), report("a", "c"), "differ first at point 2: T0 b against T0 c"),
        (report("a"), report("a", "c"), "differ first at point 2: the end against T0 c"),
        (report("a"), report("a", outcome="error", signature="E"), "end otherwise: ok against error E"),
    ],
)
def test_where_two_runs_differ(one, other, says):
    found = difference(one, other)
    assert (says in found) if says else not found


@pytest.mark.parametrize(("source", "differ"), [(BY_CHANCE, True), (ALIKE, False)])
def test_every_run_twice(tmp_path: Path, source: str, differ: bool):
    with Launcher(write(tmp_path, source)) as launcher:
        twins = Twins(launcher)
        for _ in twins.map([Job(Schedule(launcher.reference, 2))] * 6):
            pass
    assert twins.pairs == 6
    assert bool(twins.differing) == differ


def test_on_the_command_line(tmp_path: Path, capsys):
    main(["find", write(tmp_path, BY_CHANCE), "--twins", "--budget", "10"])
    said = capsys.readouterr().out
    assert "10 runs made twice" in said
    assert "two runs of the same schedule differ first at point" in said
