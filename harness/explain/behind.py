"""Reads that saw another value than undisturbed because another thread was not so far yet."""

from __future__ import annotations

from typing import Any

from harness.run.report import Report

Access = dict[str, Any]


def behind(failing: Report, control: Report, end: int) -> list[tuple[Access, str]]:
    """(read, the value undisturbed), in order, of states that another thread writes, if only later or in ``control``."""
    usual = {(a["thread"], a["state"], a["n"]): a["value"] for a in control.accesses if a["kind"] == "read"}
    writers: dict[str, set[str]] = {}
    for access in (*control.accesses, *failing.accesses):
        if access["kind"] == "write":
            writers.setdefault(access["state"], set()).add(access["thread"])
    found = []
    for access in failing.accesses:
        if access["kind"] == "read" and access["at"] <= end and writers.get(access["state"], set()) - {access["thread"]}:
            normal = usual.get((access["thread"], access["state"], access["n"]))
            if normal is not None and normal != access["value"]:
                found.append((access, normal))
    return found
