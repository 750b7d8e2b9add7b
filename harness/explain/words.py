"""Events and places in a few words, short enough to read."""

from __future__ import annotations

import linecache
import os
import re

from harness.program import PREFIX, from_reference
from harness.run.report import Report
from harness.schedule import Schedule, to_token

from . import collected
from .cause import Access, Cause, overwritten
from .event import Event
from .story import Story

_VERBS = {"read": "reads", "write": "writes"}


def short_path(text: str) -> str:
    """Paths without what differs from machine to machine, where that can be told."""
    text = re.sub(r"/[^\s:]*/(?:site|dist)-packages/", "", text)
    text = re.sub(r"/[^\s:]*/lib/python3\.\d+/", "", text)
    text = re.sub(r"/[^\s:]*/harness/scenario/", "harness/scenario/", text)
    return text.replace(os.getcwd() + os.sep, "")


def ours(line: str) -> bool:
    """A frame of the harness itself, in which the program is run."""
    return "/harness/parent.py:" in line or "<frozen runpy>:" in line or any(f"/harness/{part}/" in line for part in ("run", "oracles", "program"))


def short(text: str) -> str:
    """``a torch.fx._symbolic_trace._Patcher`` is ``a _Patcher``; a function that took another's name is its own first."""
    if text[:1] in "'\"":
        return text
    text = re.sub(r"\b(?:[A-Za-z_]\w*\.)+(\w+)", r"\1", text)
    match = re.fullmatch(r"(\w+) \((\w+)\)", text)
    if match is None:
        return text
    return match[1] if match[1] == match[2] else f"{match[2]} (named {match[1]})"


def function(name: str) -> str:
    """``torch.fx._symbolic_trace.Tracer.trace`` is ``Tracer.trace``."""
    parts = name.split(".")
    classes = [i for i, part in enumerate(parts[:-1]) if part.lstrip("_")[:1].isupper()]
    return ".".join(parts[classes[0] :] if classes else parts[-1:])


def place(access: Access) -> str:
    return f"{short_path(access['file'])}:{access['line']} in {access['function']}"


def source(file: str, line: int) -> str:
    return linecache.getline(file, line).strip()


def what(event: Event) -> str:
    """An event in a few words."""
    times = f" ({event.times} times)" if event.times > 1 else ""
    if event.kind in _VERBS:
        sign = " =" if event.kind == "write" else ":"
        return f"{_VERBS[event.kind]} {short(event.state)}{sign} {short(event.value)}{times}"
    if event.kind == "start":
        return "starts"
    if event.kind == "end":
        return "ends"
    if event.kind == "fail":
        text = short_path(event.text)
        return f"fails: {text.removeprefix('error: ')}" if event.key else f"raises {text.partition(': ')[2]}"
    if event.kind == "leak":
        return f"afterwards: {short_path(event.text)}"
    if event.kind == "wait":
        return f"waits for a lock: {event.text}"
    if event.kind == "point":
        return event.text
    if event.kind == "more":
        return f"… {event.times} more"
    if event.kind == "hand over":
        return f"{event.lane} hands over to {event.to}" + (f" ({event.text})" if event.text else "")
    return event.text


def where(event: Event) -> str:
    return f"{function(event.function)}, {short_path(event.file)}:{event.line}" if event.file else ""


def sentence(cause: Cause | None, report: Report) -> str:
    """The mechanism in one sentence."""
    if cause is None and collected.sentence(report):
        return collected.sentence(report)
    if cause is None:
        return f"{report.outcome}: {short_path(report.message) or 'no process-wide state seen'}"
    if cause.read is not None and cause.write is not None:
        normal = f" (undisturbed: {cause.normal})" if cause.normal else ""
        if cause.normal == cause.read["value"]:  # which says nothing
            normal = ", as undisturbed, but too early" if cause.proved else ", as undisturbed"
        if cause.then is not None:
            normal = f", too early: {cause.then['state']} was {cause.then['value']} then (undisturbed: {cause.then_normal})"
        return (
            f"{cause.write['thread']} set {cause.state} to {cause.write['value']}; "
            f"{cause.read['thread']} read {cause.read['value']}{normal}"
        )
    if cause.read is not None:
        later = next((a for a in cause.trail if a["kind"] == "write" and a["at"] > cause.read["at"] and a["thread"] != cause.read["thread"]), None)
        by = f" before {later['thread']} set it to {later['value']}" if later is not None else ""
        return f"{cause.read['thread']} read {cause.state} as {cause.read['value']}{by} (undisturbed: {cause.normal})"
    assert cause.write is not None
    threads = list(dict.fromkeys(a["thread"] for a in cause.trail if a["kind"] == "write"))
    if len(threads) == 1:
        return f"{threads[0]} set {cause.state} to {cause.write['value']}, and other threads went on with that"
    for read, before, write in overwritten(cause.trail):
        return (
            f"{write['thread']} wrote {cause.state} = {write['value']}, worked out from {read['value']}, "
            f"which {before['thread']} had replaced by {before['value']}"
        )
    return f"{', '.join(threads)} wrote {cause.state} in turn; it was left at {cause.trail[-1]['value']}"


def replay_line(schedule: Schedule, fix: str = "none") -> str:
    """What is typed to run it again."""
    named = "" if fix == "none" else f" --fix {fix}"
    if schedule.scenario.startswith(PREFIX):
        return f"harness run --replay {to_token(schedule)}{named} -- {from_reference(schedule.scenario).line}"
    return f"harness replay {to_token(schedule)}{named}"


def named(story: Story, thread: str) -> str:
    """``T0 (tracer)``."""
    return f"{thread} ({story.roles[thread]})" if thread in story.roles else thread
