"""From two recorded runs, the failing one and the same threads without a switch, to the state that made the difference.

For each thread, its reads are matched with those of the control run by (state, how many-eth time). The guilty read is
the last one before the failure whose value differs and was last written by another thread; where no read differs, the
last access to a state that another thread wrote in between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from harness.run.report import Report

Access = dict[str, Any]
_COLLECTION = "'s collection"


@dataclass
class Cause:
    """state   the process-wide variable
    write   the access that set what was read (None where none was seen)
    read    the access that saw another thread's value
    normal  what the same read sees when nobody interferes
    trail   every access to the state, in order
    """

    state: str
    write: Access | None
    read: Access | None
    normal: str
    trail: list[Access]


def find_cause(failing: Report, control: Report) -> Cause | None:
    """None where no recorded state differs (a lock order, a container that is not a state)."""
    thread = next((f.thread for f in failing.findings if f.kind == failing.outcome and f.thread), "")
    end = next((f.at for f in failing.findings if f.kind == failing.outcome), len(failing.log))
    if any(made.ran for made in failing.collections):
        failing, control = _apart(failing), _apart(control)
        thread = _who(thread, end, failing)
    usual = {(a["thread"], a["kind"], a["state"], a["n"]): a["value"] for a in control.accesses}
    written: dict[str, Access] = {}
    best: tuple[int, Access, Access, str] | None = None
    for access in failing.accesses:
        if access["at"] > end:
            break
        state = access["state"]
        if access["kind"] == "write":
            written[state] = access
            continue
        writer = written.get(state)
        if writer is None or writer["thread"] == access["thread"]:
            continue
        normal = usual.get((access["thread"], "read", state, access["n"]))
        if access["thread"].endswith(_COLLECTION):
            if access["thread"] != thread:
                continue  # the failure is not a finalizer's, so neither is the guilty read
            # nobody runs it otherwise: the state as the run began
            normal = next((a["value"] for a in control.accesses if a["state"] == state and a["kind"] == "read"), None)
        differs = normal is not None and normal != access["value"]
        rank = 2 * differs + (access["thread"] == thread)
        if best is None or rank >= best[0]:
            best = (rank, writer, access, normal if normal is not None else "not read")
    if best is not None:
        _, write, read, normal = best
        return Cause(read["state"], write, read, normal, _trail(failing, read["state"]))
    return _overwritten(failing)


def _who(thread: str, at: int, report: Report) -> str:
    """What a collection runs counts as somebody else than the thread that it interrupts."""
    inside = any(made.thread == thread and made.at <= at <= made.until and made.ran for made in report.collections)
    return thread + _COLLECTION if inside and thread else thread


def _apart(report: Report) -> Report:
    """The same accesses, those of finalizers under a name of their own, each counted for itself."""
    counts: dict[tuple[str, str, str], int] = {}
    apart = []
    for access in report.accesses:
        who = _who(access["thread"], access["at"], report)
        key = who, access["kind"], access["state"]
        counts[key] = counts.get(key, 0) + 1
        apart.append({**access, "thread": who, "n": counts[key]})
    return replace(report, accesses=apart)


def _overwritten(failing: Report) -> Cause | None:
    """No read saw a foreign value: did two threads' writes overlap (a save and restore that crossed)?"""
    leaked = next((f for f in failing.findings if f.kind == "state leaked"), None)
    if leaked is None and any(made.ran for made in failing.collections):
        return None  # what a finalizer counts is not what went wrong
    writers: dict[str, list[Access]] = {}
    for access in failing.accesses:
        if access["kind"] == "write":
            writers.setdefault(access["state"], []).append(access)
    for state, writes in writers.items():
        if len({w["thread"] for w in writes}) > 1 and (leaked is None or state in leaked.signature):
            return Cause(state, writes[-1], None, "", _trail(failing, state))
    return None


def _trail(report: Report, state: str) -> list[Access]:
    return [access for access in report.accesses if access["state"] == state]
