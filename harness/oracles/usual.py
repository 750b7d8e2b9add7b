"""What a program leaves changed in the undisturbed run too is no leak: a setting may be made for good."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.run.job import Job

_LEAKED = "state leaked: "


class Usual:
    """``run(job)`` makes one run and gives its report as plain data; ``wanted`` is False for a scenario, whose set-up
    comes before what it must leave as it was."""

    def __init__(self, run: Callable[[Job], dict[str, Any]], wanted: bool) -> None:
        self._run = run
        self._wanted = wanted
        self._known: dict[str, set[str]] = {}

    def judge(self, job: Job, report: dict[str, Any]) -> None:
        """Takes out of the report's findings what the same program leaves without a switch."""
        if not self._wanted or not any(_names(finding) for finding in report["findings"]):
            return
        usual = self._usual(job)
        kept = []
        for finding in report["findings"]:
            names = _names(finding)
            new = [name for name in names if name not in usual]
            if names and new:
                says = [part for part in finding["message"].split("; ") if part.partition(" was ")[0] in new]
                kept.append({**finding, "signature": _LEAKED + ", ".join(new), "message": "; ".join(says)})
            elif not names:
                kept.append(finding)
        report["findings"] = kept

    def _usual(self, job: Job) -> set[str]:
        key = json.dumps([job.schedule.axes, job.schedule.free, job.fix, job.isolate], sort_keys=True)
        if key not in self._known:
            report = self._run(Job(replace(job.schedule, directives=()), job.fix, isolate=job.isolate))
            self._known[key] = {name for finding in report["findings"] for name in _names(finding)}
        return self._known[key]


def _names(finding: dict[str, Any]) -> list[str]:
    """The states that a finding says were leaked; empty for one of another kind."""
    signature = finding["signature"]
    return signature.removeprefix(_LEAKED).split(", ") if signature.startswith(_LEAKED) else []
