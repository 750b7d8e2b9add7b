"""Fewest threads, axes, directives; the youngest generation; one form for failures alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.inline import at
from support.programs import write

from harness.run.inline import InlineRunner
from harness.run.job import Job
from harness.schedule import Schedule
from harness.search.reduce import reduce

TURNS = """
class Turns:
    def __init__(self, axes):
        self.log, self.inside, self.overlaps = [], 0, 0

def body(turns):
    turns.inside += 1
    marker("in")
    turns.overlaps += turns.inside > 1
    marker("out")
    turns.inside -= 1

def check(turns, results):
    assert not turns.overlaps, "two at a time"

scenario = Scenario([body], setup=Turns, check=check, threads=(2, 5), axes={"depth": [1, 2]}, points=["names"])
"""

GARBAGE = """
class Cell:
    def __init__(self, seen):
        self.me, self.seen = self, seen
    def __del__(self):
        self.seen.append(1)

def body(seen):
    Cell(seen)
    marker("dropped")
    return len(seen)

def check(seen, results):
    assert results[0] == 0, "finalized"

scenario = Scenario([body], setup=lambda axes: [], check=check, threads=(1, 1))
"""


@pytest.fixture
def runner(tmp_path: Path):
    made = []

    def make(source: str) -> InlineRunner:
        made.append(InlineRunner(write(tmp_path, source)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_threads_axes_and_directives_that_are_not_needed_go(runner):
    turns = runner(TURNS)
    long = Schedule(
        "turns", 5, first=3, axes={"depth": 2},
        directives=(
            at("T3", "marker:in", "T4"), at("T4", "marker:in", "T1"), at("T1", "marker:out", "T2"),
            at("T2", "marker:in", "T0"), at("T0", "marker:in", "T3"),
        ),
    )  # fmt: skip
    report = turns.run(Job(long))
    assert report.failed
    smallest, again, _ = reduce(turns, long, report)
    assert (smallest.threads, smallest.first, smallest.axes) == (2, 0, {})
    assert [str(d) for d in smallest.directives] == ["T0 after marker:in: hand over to T1"]
    assert again.signature == report.signature
    assert reduce(turns, long, report, held={"depth"})[0].axes == {"depth": 2}  # it was asked about


def test_a_younger_generation_will_do(runner):
    garbage = runner(GARBAGE)
    full = Schedule("garbage", 1, directives=(at("T0", "marker:dropped", 2),))
    report = garbage.run(Job(full))
    assert report.failed
    smallest, _, _ = reduce(garbage, full, report)
    assert [d.does for d in smallest.directives] == ["gc0"]


def test_many_directives(runner):
    turns = runner(TURNS)
    idle = tuple(at("T1", "marker:out", "T0", n) for n in range(2, 12))  # never passed so often
    long = Schedule("turns", 2, directives=(*idle[:5], at("T0", "marker:in", "T1"), *idle[5:]))
    report = turns.run(Job(long))
    assert report.failed
    smallest, _, runs = reduce(turns, long, report)
    assert [str(d) for d in smallest.directives] == ["T0 after marker:in: hand over to T1"]
    assert runs < 40
