"""The frames of Dynamo's hook, told in every format: one order with hand-overs, accesses and collections."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.control.actions import HandOver
from harness.control.collect import Collection
from harness.control.frames import CACHED, COMPILED, MARKED, SKIPPED, Seen
from harness.explain import FORMATS, Story, tell
from harness.explain.frames import told
from harness.run.report import Report
from harness.schedule import Directive, Schedule

POINTS = [("T0", "call:m.a", 1), ("T0", "write:m.flag", 2), ("T1", "call:m.b", 1), ("T1", "read:m.flag", 2), ("T1", "end", 3)]


def seen(thread: str, what: str, name: str, at: int, until: int = -1, why: str = "") -> Seen:
    return Seen(thread, what, f"m.{name}", "/x/m.py", 7, at, at if until < 0 else until, why)


@pytest.fixture
def report() -> Report:
    access = {"thread": "T1", "kind": "read", "state": "m.flag", "n": 1, "value": "True", "file": "/x/m.py", "line": 3,
              "function": "m.b", "at": 3, "pid": 1, "stack": []}  # fmt: skip
    return Report(
        threads=["T0", "T1"],
        log=POINTS,
        switches=[(Directive("T0", "write:m.flag", 1, HandOver("T1")), False, 2)],
        accesses=[access],
        collections=[Collection("T1", "call:m.b", 1, 2, 3, found=4)],
        frames=[
            seen("T0", COMPILED, "a", 0, 2), seen("T1", CACHED, "b", 3), seen("T1", SKIPPED, "c", 4, why="a reason"),
            seen("T1", MARKED, "d", 4), seen("T1", MARKED, "e", 4),
        ],
    )  # fmt: skip


@pytest.fixture
def story(report: Report) -> Story:
    return tell(Schedule("m.py", 2), report, None, framed=report)


def test_the_order(report: Report) -> None:
    assert told(report, ["m.flag"]) == [
        "     0 T0 given to the hook and compiled: m.a, /x/m.py:7, until point 2",
        "     2 T0 after write:m.flag: hand over to T1",
        "     3 T1 collects generation 2: 4 objects",
        "     3 T1 reads flag: True",
        "     3 T1 runs from the cache: m.b, /x/m.py:7",
        "     4 T1 given to the hook and skipped: m.c, /x/m.py:7 (a reason)",
        "     4 T1 skipped, marked before: m.d, /x/m.py:7 and 1 more",
    ]
    assert all("reads" not in line for line in told(report, []))
    assert told(replace(report, frames=[]), ["m.flag"])[0].startswith("none")


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_on_request_only(name: str, story: Story) -> None:
    text = FORMATS[name](story)
    assert "given to the hook and compiled: m.a" in text
    assert text.index("compiled: m.a") < text.index("cache: m.b") < text.index("skipped: m.c")
    assert "given to the hook" not in FORMATS[name](replace(story, framed=None))


def test_the_trace_has_them_as_a_process_of_its_own(story: Story) -> None:
    rows = json.loads(FORMATS["perfetto"](story))["traceEvents"]
    frames = [row for row in rows if row["pid"] == 2 and row["ph"] == "X"]
    assert [row["name"] for row in frames] == ["compiled: m.a", "from cache: m.b", "skipped: m.c", "marked: m.d"]
    assert frames[0]["dur"] == 2000
    assert {row["tid"] for row in frames} == {1, 2}
    assert all(row["pid"] == 1 for row in json.loads(FORMATS["perfetto"](replace(story, framed=None)))["traceEvents"])
