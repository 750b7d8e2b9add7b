"""What torch made and ran (:mod:`harness.control.made`), against the sequential orders of the same threads.

``not compiled``   a thread ran compiled code less often than in any order: its call was made as it was written
``graph changed``  a thread made a graph that no thread makes in any order: somebody else's work is in it, or is missing

Neither raises anything by itself. Said nothing about: runs in which a collection ran code of the program; and what did
not run compiled, where something raised. An order that fails is none to compare with; where all do, nothing is said.
"""

from __future__ import annotations

from difflib import unified_diff
from typing import Any

from harness.run.job import Job
from harness.run.outcome import Finding

from .orders import Orders, Raw, each_first, in_order, name_of, program_of

_RAISED = ("crash", "deadlock", "hang", "error")
_NOTHING: dict[str, Any] = {"ran": 0, "graphs": []}


class Compiled:
    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._known: dict[str, list[tuple[str, Raw]]] = {}

    def judge(self, job: Job, report: Raw) -> None:
        """Adds findings to the report."""
        made = report.get("made")
        if made is None or any(done["ran"] for done in report.get("collections", ())):
            return
        if job.schedule.threads < 2 or self._orders.running:
            return
        program = program_of(job)
        if program not in self._known:
            self._known[program] = self._allowed(job)
        allowed = self._known[program]
        if not allowed:
            return
        at = len(report["log"]) // 3
        raised = any(finding["kind"] in _RAISED for finding in report["findings"])
        findings = _unknown(made, allowed, at) + ([] if raised else _too_few(made, allowed, at))
        report["findings"] += [finding.to_json() for finding in findings]

    def _allowed(self, job: Job) -> list[tuple[str, Raw]]:
        return [
            (name_of(alone, other), other["made"])
            for alone, other in self._orders.reports(in_order(job, each_first(job.schedule)))
            if not other["findings"] and other["made"] is not None
        ]


def _too_few(made: Raw, allowed: list[tuple[str, Raw]], at: int) -> list[Finding]:
    told, threads = [], []
    for thread in sorted({thread for _, other in allowed for thread in other}):
        ran = made.get(thread, _NOTHING)["ran"]
        least, name = min((other.get(thread, _NOTHING)["ran"], name) for name, other in allowed)
        if ran < least:
            threads.append(thread)
            told.append(f"{thread} ran compiled code {ran} times, but {least} times in each sequential order ({name})")
    if not told:
        return []
    return [Finding("not compiled", f"not compiled: {', '.join(threads)}", "; ".join(told), thread=threads[0], at=at)]


def _unknown(made: Raw, allowed: list[tuple[str, Raw]], at: int) -> list[Finding]:
    known = {graph for _, other in allowed for each in other.values() for graph in each["graphs"]}
    found = []
    for thread in sorted(made):
        for graph in made[thread]["graphs"]:
            if graph in known:
                continue
            usual = [each["graphs"] for _, other in allowed for name, each in other.items() if name == thread]
            says = f"{thread} made a graph that no sequential order makes: {_difference(graph, usual)}"
            found.append(Finding("graph changed", f"graph changed: {thread}", says, thread=thread, at=at))
            break
    return found


def _difference(graph: str, usual: list[list[str]]) -> str:
    """The lines by which it differs from the nearest that this thread makes."""
    others = [other for graphs in usual for other in graphs]
    if not others:
        return "none is made there"
    changes = [
        [line for line in unified_diff(other.splitlines(), graph.splitlines(), lineterm="", n=0) if line[:2] not in ("--", "++", "@@")]
        for other in others
    ]
    return "; ".join(min(changes, key=len)[:6])
