"""Each format says the same; the trace file keeps to the Chrome trace event format."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from harness.explain import FORMATS, Event, Story, tell
from harness.explain.lanes import draw
from harness.explain.perfetto import events


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("story", ["saved", "lost", "locked", "warm"])
def test_every_format_has_the_token_and_the_outcome(name: str, story: str, request: pytest.FixtureRequest) -> None:
    told: Story = request.getfixturevalue(story)
    text = FORMATS[name](told)
    assert told.report.outcome in text
    assert "race1," in text


def test_text_keeps_its_lines_and_its_width(warm: Story) -> None:
    lines = FORMATS["text"](warm).splitlines()
    heads = [line.split(" ")[0] for line in lines if not line.startswith((" ", ">>"))]
    assert heads[:8] == ["scenario", "outcome", "schedule", "cause", "state", "proof", "write", "read"]
    assert heads[-1] == "replay"
    for width in (100, 120):
        assert all(len(line) <= width for line in draw(warm, width))


def test_many_lanes_fit_too(saved: Story) -> None:
    names = [f"T{i}" for i in range(8)]
    turns = [Event(i, a, "hand over", to=b) for i, (a, b) in enumerate(pairwise(names))]
    starts = [Event(i, name, "start") for i, name in enumerate(names)]
    both = [e for pair in zip(starts, [*turns, Event(9, "T7", "end")], strict=True) for e in pair]
    story = Story(saved.schedule, saved.report, None, both, names, {})
    lines = draw(story, 110)
    assert all(len(line) <= 110 for line in lines)
    assert sum("hands over to" in line for line in lines) == 7


def test_markdown_is_a_report(warm: Story) -> None:
    lines = FORMATS["markdown"](warm).splitlines()
    sections = [line for line in lines if line.startswith("## ")]
    assert [s[3:] for s in sections] == [
        "Environment", "Steps to reproduce", "What happens", "Interleaving", "Code", "Proof by counterfactual",
    ]  # fmt: skip
    assert lines.count("```") % 2 == 0 or any(line.startswith("```python") for line in lines)
    assert any(line.startswith("- torch: 2.") for line in lines)


class _Page(HTMLParser):
    void = frozenset(("meta", "link", "br", "wbr"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attributes if name in ("src", "href", "action", "srcset")]
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("story", ["saved", "lost", "locked", "warm"])
def test_the_page_is_well_formed_and_self_contained(story: str, request: pytest.FixtureRequest) -> None:
    page = _Page()
    text = FORMATS["html"](request.getfixturevalue(story))
    page.feed(text)
    page.close()
    assert page.open == []
    assert page.links == ["data:,"]
    assert "http" not in text.replace("http-equiv", "")
    assert "prefers-color-scheme:dark" in text


def test_the_page_escapes(saved: Story) -> None:
    from dataclasses import replace

    report = replace(saved.report, message="<script>alert(1)</script> & {x}")
    told = tell(saved.schedule, report, saved.cause, counterfactual=saved.counterfactual)
    assert "<script>alert" not in FORMATS["html"](told)


_REQUIRED: dict[str, set[str]] = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "ts", "dur", "pid", "tid"},
    "i": {"name", "ts", "pid", "tid", "s"},
    "s": {"name", "cat", "id", "ts", "pid", "tid"},
    "f": {"name", "cat", "id", "ts", "pid", "tid", "bp"},
}


def _check_schema(rows: list[dict[str, Any]]) -> None:
    """The rules of the format that Perfetto's importer relies on: keys by phase, order, nesting, bound arrows."""
    for row in rows:
        assert _REQUIRED[row["ph"]] <= row.keys(), row
        assert all(isinstance(row[key], (int, float)) for key in ("ts", "dur", "pid", "tid") if key in row)
        assert row["ph"] != "i" or row["s"] in ("g", "p", "t")
    timed = [row for row in rows if row["ph"] != "M"]
    assert [row["ts"] for row in timed] == sorted(row["ts"] for row in timed)
    slices = [row for row in timed if row["ph"] == "X"]
    for tid in {row["tid"] for row in slices}:
        ends: list[float] = []
        for row in (row for row in slices if row["tid"] == tid):
            while ends and ends[-1] <= row["ts"]:
                ends.pop()
            assert not ends or row["ts"] + row["dur"] <= ends[-1], "slices of one track nest"
            ends.append(row["ts"] + row["dur"])
    flows: dict[int, list[dict[str, Any]]] = {}
    for row in timed:
        if row["ph"] in "sf":
            flows.setdefault(row["id"], []).append(row)
            inside = [s for s in slices if s["tid"] == row["tid"] and s["ts"] <= row["ts"] <= s["ts"] + s["dur"]]
            assert inside, f"an arrow is bound to no slice: {row}"
    assert all([row["ph"] for row in pair] == ["s", "f"] and pair[0]["tid"] != pair[1]["tid"] for pair in flows.values())


@pytest.mark.parametrize("story", ["saved", "lost", "locked", "warm"])
def test_the_trace_keeps_to_its_schema(story: str, request: pytest.FixtureRequest) -> None:
    told: Story = request.getfixturevalue(story)
    data = json.loads(FORMATS["perfetto"](told))
    rows = data["traceEvents"]
    _check_schema(rows)
    names = {row["args"]["name"].split(" ")[0] for row in rows if row["name"] == "thread_name"}
    assert names == set(told.lanes)
    assert sum(row["ph"] == "s" for row in rows) == sum(e.kind == "hand over" for e in told.events)


def test_the_schema_check_can_fail(saved: Story) -> None:
    for spoil in ("bp", "dur", "tid"):
        rows = events(saved)
        row = next(r for r in rows if spoil in r and r["ph"] != "M")
        del row[spoil]
        with pytest.raises((AssertionError, KeyError)):
            _check_schema(rows)
    rows = events(saved)
    next(r for r in rows if r["ph"] == "f")["ts"] = 1e9
    with pytest.raises(AssertionError):
        _check_schema(sorted(rows, key=lambda row: (row["ph"] != "M", row.get("ts", 0.0), -row.get("dur", 0.0))))
