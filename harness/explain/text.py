"""An explanation as plain text."""

from __future__ import annotations

import textwrap

from harness.run.report import Report
from harness.schedule import Schedule

from . import collected, frames
from .account import difference
from .cause import Cause
from .lanes import draw
from .story import Story
from .words import ours, place, replay_line, sentence, short, short_path

_INDENT = " " * 10
_WIDTH = 110


def as_text(schedule: Schedule, report: Report, cause: Cause | None, on_gc: str = "", fix: str = "none") -> str:
    """In short: what `harness find` prints. ``on_gc``: whether the failure depends on garbage collection, in words."""
    lines = [*_summary(schedule, report, cause, on_gc), *_stacks(report, cause)]
    return "\n".join([*lines, _replay(schedule, fix)])


def render(story: Story) -> str:
    """In full: with the lanes, and the nearest schedule that passes."""
    lines = _summary(story.schedule, story.report, story.cause, story.on_gc)
    lines += ["lanes     | runs   : waits for its turn   >> made the difference", *draw(story, _WIDTH)]
    other = story.counterfactual
    if other is not None:
        lines += _wrapped("nearest", difference(story))
        lines.append(f"{_INDENT}{replay_line(other.schedule, story.fix)}  (run {other.tried} of those tried)")
    elif story.schedule.directives:
        lines += _wrapped("nearest", "no schedule was found that differs in one hand-over and passes")
    if story.framed is not None:
        lines.append("frames    of Dynamo's hook, behind so many points of the run")
        lines += [f"{_INDENT}{line}" for line in frames.told(story.framed, story.states)]
    lines += _stacks(story.report, story.cause)
    return "\n".join([*lines, _replay(story.schedule, story.fix)])


def _replay(schedule: Schedule, fix: str) -> str:
    return f"replay    {replay_line(schedule, fix)}"


def _wrapped(name: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"{name:10}", subsequent_indent=_INDENT, break_on_hyphens=False, break_long_words=False
    )


def _summary(schedule: Schedule, report: Report, cause: Cause | None, on_gc: str) -> list[str]:
    mode = "free-threaded" if schedule.free else "realizable under the GIL"
    threads = "1 thread" if schedule.threads == 1 else f"{schedule.threads} threads"
    threads += " and those it starts" if any("." in name for name in report.threads) else ""
    lines = [
        f"scenario  {schedule.scenario}, {threads}, T{schedule.first} starts ({mode})",
        f"outcome   {report.outcome}: {short_path(report.message)}",
        "schedule",
    ]
    lines += [f"{_INDENT}{directive}" for directive in schedule.directives] or [f"{_INDENT}no switch at all"]
    lines += ["cause     " + sentence(cause, report)]
    if report.collections:
        lines.append("collected")
        lines += [f"{_INDENT}{short_path(line)}" for line in collected.lines(report)]
        lines += [f"gc        depends on it: {on_gc}"] if on_gc else []
    if cause is None:
        return lines
    lines.append(f"state     {cause.state}")
    if cause.proved:
        others = f" and {', '.join(cause.with_it)}" if cause.with_it else ""
        whose = "the collection's" if cause.read and cause.read["thread"].endswith("collection") else "each thread's"
        lines.append(f"proof     with this state{others} {whose} own, the same schedule passes")
    else:
        lines.append("proof     none: by the log it is the likeliest")
    for name, access in (("write", cause.write), ("read", cause.read)):
        if access is not None:
            lines.append(f"{name:9} {access['thread']}: {access['value']}, {place(access)}")
    lines.append("trail")
    for access in cause.trail[:40]:
        lines.append(
            f"{_INDENT}{access['thread']} {access['kind']:5} {short(access['value']):24} {access['function']}:{access['line']}"
        )
    if len(cause.trail) > 40:
        lines.append(f"{_INDENT}… {len(cause.trail) - 40} more")
    return lines


def _stacks(report: Report, cause: Cause | None) -> list[str]:
    lines: list[str] = []
    if cause is not None:
        for name, access in (("writer", cause.write), ("reader", cause.read)):
            if access is not None:
                lines.append(f"stack of the {name} ({access['thread']})")
                lines += [f"{_INDENT}{short_path(line)}" for line in access["stack"]]
    finding = next((f for f in report.findings if f.kind == report.outcome), None)
    if finding is not None and finding.stack and (cause is None or cause.read is None):
        lines.append("stack" if cause is None else "stack of the failure")
        lines += [f"{_INDENT}{short_path(line)}" for line in finding.stack if not ours(line)]
    return lines
