"""Puts a script together: the scenario's source, the order, what forces it, and what the failure looks like."""

from __future__ import annotations

import ast
import json
from importlib import resources
from pathlib import Path
from pprint import pformat
from typing import Any

from harness.errors import UserError
from harness.run.outcome import FAILURES, Finding, template
from harness.run.report import Report
from harness.schedule import Directive, Schedule, to_token

from .embed import embed
from .places import places_of

_TOLD = ("error", "wrong value", "state leaked")


def make(schedule: Schedule, report: Report, about: dict[str, Any], python: str) -> str:
    """The script's text. ``report`` is of a run that failed. Raises UserError for what a script cannot do, in one line."""
    refuse(schedule, report)
    scanned = [d.point for d in schedule.directives if d.point != "end" and not d.point.startswith("marker:")]
    found = places_of(schedule.scenario, list(dict.fromkeys(scanned)), python)
    for directive in schedule.directives:
        if directive.point in scanned and not found["points"][directive.point]:
            raise UserError(f"script: {directive.point}: no instruction is known at which that is")
    program = embed(Path(found["source"]), found["module"])
    if "_race_" in program or "_Race" in program:
        raise UserError(f"script: {found['source']} uses names that begin with _race_: they are the script's")
    axes = {name: values[0] for name, values in about["axes"].items()} | schedule.axes | {"threads": schedule.threads}
    data = {
        "scenario": found["name"],
        "module": found["module"],
        "threads": schedule.threads,
        "first": schedule.first,
        "axes": axes,
        "directives": [_order(directive, found["points"]) for directive in schedule.directives],
        "expected": _expected(report),
        "made for": {"torch": about["torch"], "python": about["python"]},
    }
    engine = resources.files("harness.script").joinpath("engine.py").read_text(encoding="utf-8")
    return _HEAD.format(
        doc=_doc(schedule, report, about),
        stand_ins=_part(engine, "stand-ins"),
        program=program.strip("\n"),
        order=pformat(data, width=110, sort_dicts=False),
        engine=_part(engine, "engine"),
    )


def refuse(schedule: Schedule, report: Report) -> None:
    """Raises UserError where plain threads, parked by a trace function, cannot do what this run did."""
    why = ""
    if schedule.free:
        why = "the schedule is of --mode free: it hands over where this interpreter cannot"
    elif report.outcome not in FAILURES:
        why = f"the schedule does not fail here ({report.outcome})"
    elif report.outcome not in _TOLD:
        why = f"the outcome is {report.outcome!r}: a script tells {', '.join(_TOLD)}"
    elif report.signature.startswith("no sequential order "):
        why = "only a comparison with runs without a switch shows the failure: give the scenario a check"
    elif _finding(report).thread.startswith("probe"):
        why = "the failure is a probe's"
    elif any("." in name for name in report.threads):
        why = "the program starts threads of its own"
    elif any(point.startswith("block:") for _, point, _ in report.log) or report.uncontrolled:
        why = "in this schedule a thread waits for another's lock, and a script has no locks that it could see"
    elif report.unused or report.void:
        why = f"{report.void} of its directives found no place: search again with `harness find {schedule.scenario}`"
    else:
        locks = [d.point for d in schedule.directives if d.point.split(":")[0] in ("lock", "unlock")]
        if locks:
            why = f"it hands over at {locks[0]}, and a script does not see locks"
    if why:
        raise UserError(f"script: {why}")


def _order(directive: Directive, places: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "thread": directive.thread,
        "point": directive.point,
        "n": directive.n,
        "does": directive.does,
        "places": places.get(directive.point, []),
    }


def _finding(report: Report) -> Finding:
    return next(f for f in report.findings if f.kind == report.outcome and f.message == report.message)


def _expected(report: Report) -> dict[str, Any]:
    finding = _finding(report)
    if finding.kind == "state leaked":
        return {"kind": finding.kind, "states": finding.signature.removeprefix("state leaked: ").split(", ")}
    kind, _, message = finding.message.partition(": ")
    return {"kind": finding.kind, "thread": finding.thread, "type": kind, "message": template(message)}


def _doc(schedule: Schedule, report: Report, about: dict[str, Any]) -> str:
    message = (report.message.splitlines() or [""])[0]
    order = "\n".join(f"    {directive}" for directive in schedule.directives) or "    no switch"
    text = _DOC.format(
        outcome=report.outcome,
        message=message,
        first=schedule.first,
        order=order,
        torch=f"torch {about['torch']}, " if about["torch"] else "",
        python=about["python"],
        token=to_token(schedule),
    )
    return json.dumps(text) if '"""' in text or "\\" in text else f'"""{text}"""'


def _part(engine: str, name: str) -> str:
    """Between ``# <name>`` and ``# </name>``."""
    found = engine.partition(f"# <{name}>\n")[2].partition(f"# </{name}>")[0].strip("\n")
    assert found
    ast.parse(found)
    return found


_DOC = """{outcome}: {message}

Plain threads, made to take turns in one order: T{first} starts, and
{order}
Otherwise a thread runs until it ends, then the lowest that has not. No sleeps: a parked thread waits for its turn.
Made for {torch}Python {python}; needs nothing else. Exit status: 1 the failure happened, 0 it did not, 2 the order does
not fit this version.

Found as {token}
"""

_HEAD = """#!/usr/bin/env python3
{doc}

from __future__ import annotations

{stand_ins}


# ------------------------------------------------------------------------------ the program

{program}


# ------------------------------------------------------------------------------ the order

_race_data = {order}


# ------------------------------------------------------------------------------ what forces it

{engine}
"""
