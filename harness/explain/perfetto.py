"""An explanation as a trace that Perfetto opens (ui.perfetto.dev): the Chrome trace event format, as JSON.

One track a thread. A slice ``runs`` while it has the baton; accesses are slices in it, failures and starts instants;
hand-overs are flow arrows. Time is not measured: each event takes one step of a logical clock, drawn as a millisecond.
"""

from __future__ import annotations

import json
from typing import Any

from harness.schedule import to_token

from . import frames
from .event import Event
from .story import Story
from .words import named, sentence, what, where

_STEP = 1000.0  # microseconds
_INSTANT = {"start", "end", "fail", "leak"}


def render(story: Story) -> str:
    data = {
        "traceEvents": [*events(story), *_frames(story)],
        "displayTimeUnit": "ms",
        "otherData": {
            "scenario": story.schedule.scenario,
            "token": to_token(story.schedule),
            "outcome": f"{story.report.outcome}: {story.report.message}",
            "cause": sentence(story.cause, story.report),
            **{name: value for name, value in story.environment.items() if value},
        },
    }
    return json.dumps(data, indent=1) + "\n"


def events(story: Story) -> list[dict[str, Any]]:
    """Rows of the trace: metadata, then events in order of time."""
    track = {name: index + 1 for index, name in enumerate(story.lanes)}
    found = [_meta("process_name", 0, story.schedule.scenario)]
    found += [_meta("thread_name", tid, named(story, name)) for name, tid in track.items()]
    found += [{**_meta("thread_sort_index", tid, ""), "args": {"sort_index": tid}} for tid in track.values()]
    began, now, flow, lane = 0.0, 0.0, 0, ""
    for event in story.events:
        if event.kind == "hand over":
            now += _STEP
            found.append(_slice("runs", track[event.lane], began, now - began, {}))
            flow += 1
            ends = {"cat": "baton", "name": "hand over", "id": flow, "pid": 1}
            found.append({**ends, "ph": "s", "ts": now - _STEP / 2, "tid": track[event.lane], "args": {"why": event.text}})
            found.append({**ends, "ph": "f", "bp": "e", "ts": now + _STEP / 4, "tid": track[event.to]})
            began, lane = now, event.to
            continue
        now += _STEP
        lane = event.lane or lane
        found.append(_row(event, track[lane] if lane else 0, now))
    if lane:
        found.append(_slice("runs", track[lane], began, now + _STEP - began, {}))
    return sorted(found, key=lambda row: (row["ph"] != "M", row.get("ts", 0.0), -row.get("dur", 0.0)))


def _frames(story: Story) -> list[dict[str, Any]]:
    """A process of its own for Dynamo's frames: its clock counts the points of the run, not the events drawn above."""
    if story.framed is None:
        return []
    names = list(dict.fromkeys(seen.thread for seen in story.framed.frames))
    rows = [_meta("process_name", 0, "frames of Dynamo's hook, by points"), *(_meta("thread_name", i, n) for i, n in enumerate(names, 1))]
    for seen, times in frames.shown(story.framed):
        length = _STEP * max(0.8, seen.until - seen.at)
        args = {"file": f"{seen.file}:{seen.line}", "why": seen.why, "times": times}
        rows.append(_slice(f"{seen.what}: {seen.function}", names.index(seen.thread) + 1, _STEP * seen.at, length, args, "frame"))
    return [{**row, "pid": 2} for row in rows]


def _row(event: Event, tid: int, now: float) -> dict[str, Any]:
    args: dict[str, Any] = {"point": event.at}
    args |= {name: value for name, value in (("value", event.value), ("state", event.state), ("at", where(event))) if value}
    if event.key:
        args["made the difference"] = True
    if event.kind in _INSTANT:
        scope = "t" if event.lane else "p"
        return {"ph": "i", "name": what(event), "cat": event.kind, "s": scope, "ts": now, "pid": 1, "tid": tid, "args": args}
    return _slice(what(event), tid, now, _STEP * 0.8, args, event.kind)


def _slice(name: str, tid: int, start: float, length: float, args: dict[str, Any], kind: str = "turn") -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": kind, "ts": start, "dur": length, "pid": 1, "tid": tid, "args": args}


def _meta(name: str, tid: int, value: str) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": 1, "tid": tid, "args": {"name": value}}
