"""What the collections of a run ran, in words."""

from __future__ import annotations

import textwrap
from typing import Any

from harness.control.collect import Collection
from harness.control.finalizers import OTHER
from harness.run.report import Report

_SHOWN = 12


def _what(ran: dict[str, Any]) -> str:
    of = f" of a {ran['type']}" if ran["type"] and ran["kind"] != "generator" else ""
    name = "closed generator" if ran["kind"] == "generator" else f"ran {ran['kind']}"
    return f"{name} {ran['function']}{of}"


def sentence(report: Report) -> str:
    """What a collection ran that raised; else the first that died of it; else the first code. Empty where none ran."""
    every = [(made, ran) for made in report.collections for ran in made.ran]
    if not every:
        return ""
    made, ran = min(every, key=lambda pair: (not pair[1]["raised"], pair[1]["kind"] == OTHER))
    raised = ", which raised " + ran["raised"] if ran["raised"] else ""
    return f"a collection in {made.thread} after {made.point} {_what(ran)}{raised}"


def lines(report: Report) -> list[str]:
    """One line a collection, then what it ran, in order, with the place where that is defined."""
    found = []
    for made in report.collections:
        nth = f" (passing {made.n})" if made.n > 1 else ""
        waited = f" (it was off there: when {made.waited_for} had put it on)" if made.waited_for else ""
        found.append(
            f"{made.thread} after {made.point}{nth}{waited}: generation {made.generation}, "
            f"{made.found} objects unreachable"
        )
        found += [f"  {line}" for line in _of(made)]
    return found


def _of(made: Collection) -> list[str]:
    found = []
    for ran in sorted(made.ran, key=lambda item: not item["raised"])[:_SHOWN]:  # what raised is not left out
        found.append(f"{_what(ran)}, {ran['file']}:{ran['line']}")
        if ran["calls"]:
            found.append(f"  which called {ran['calls']}")
        if ran["raised"]:
            found.append("  and raised " + textwrap.shorten(ran["raised"], 160, placeholder=" …"))
    if len(made.ran) > _SHOWN:
        found.append(f"… and {len(made.ran) - _SHOWN} more")
    return found or ["ran no code of the program"]
