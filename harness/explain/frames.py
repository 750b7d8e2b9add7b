"""The frames that Dynamo's hook was given, told in one order with accesses, hand-overs and collections."""

from __future__ import annotations

from collections.abc import Sequence

from harness.control.frames import MARKED, Seen
from harness.run.report import Report

from .words import short, short_path

_MOST = 160

#: What each kind means, for people.
SAYS = {
    "compiled": "given to the hook and compiled",
    "skipped": "given to the hook and skipped",
    "raised": "given to the hook, which raised",
    "given": "given to the hook, which never answered",
    "begun": "given to the hook after it had begun, as when a generator is closed",
    "from cache": "runs from the cache",
    "marked": "skipped, marked before",
}


def shown(report: Report) -> list[tuple[Seen, int]]:
    """In order, each with how many it stands for: functions marked to be skipped, one after the other, are one."""
    found: list[tuple[Seen, int]] = []
    for seen in report.frames:
        last, times = found[-1] if found else (seen, 0)
        if times and seen.what == last.what == MARKED and seen.thread == last.thread:
            found[-1] = (last, times + 1)
        else:
            found.append((seen, 1))
    return found


def told(report: Report, states: Sequence[str]) -> list[str]:
    """One line each; the number is how many points the run had passed by then. Accesses are those of ``states``."""
    if not report.frames:
        return ["none: the hook was given no frame, and none ran from the cache"]
    rows: list[tuple[int, int, str]] = []
    for order, (seen, times) in enumerate(shown(report)):
        rows.append((seen.at, 3 + order, f"{seen.thread} {what(seen, times)}"))
    for access in report.accesses:
        if access["state"] in states:
            rows.append((access["at"], 2, f"{access['thread']} {access['kind']}s {short(access['state'])}: {short(access['value'])}"))
    rows += [(at, 0, str(directive)) for directive, forced, at in report.switches if not forced]
    rows += [(made.at, 1, f"{made.thread} collects generation {made.generation}: {made.found} objects") for made in report.collections]
    lines = [f"{at:6} {text}" for at, _, text in sorted(rows)]
    return lines if len(lines) <= _MOST else [*lines[:_MOST], f"… {len(lines) - _MOST} more"]


def what(seen: Seen, times: int = 1) -> str:
    more = f" and {times - 1} more" if times > 1 else ""
    why = f" ({short_path(seen.why)})" if seen.why else ""
    until = f", until point {seen.until}" if seen.until != seen.at else ""
    return f"{SAYS[seen.what]}: {seen.function}, {short_path(seen.file)}:{seen.line}{more}{why}{until}"
