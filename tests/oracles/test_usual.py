"""What a program leaves changed without a switch is its own affair; what only a schedule leaves is a leak."""

from __future__ import annotations

from typing import Any

from harness.control.actions import HandOver
from harness.oracles.usual import Usual
from harness.run.job import Job
from harness.schedule.schedule import Directive, Schedule

UNDISTURBED = Schedule("run:python a.py", 1)
SWITCHED = UNDISTURBED.with_directives((Directive("T0", "read:a.x", 1, HandOver("T0.1")),))


def leaked(*names: str) -> dict[str, Any]:
    says = "; ".join(f"{name} was False, is True" for name in names)
    return {"findings": [{"kind": "state leaked", "signature": "state leaked: " + ", ".join(names), "message": says}]}


def test_only_what_the_undisturbed_run_does_not_leave() -> None:
    asked: list[Job] = []

    def run(job: Job) -> dict[str, Any]:
        asked.append(job)
        return leaked("a.setting")

    usual = Usual(run, True)
    report = leaked("a.setting", "a.flag")
    report["findings"].append({"kind": "error", "signature": "ValueError: [f]", "message": "ValueError"})
    usual.judge(Job(SWITCHED), report)
    assert [f["signature"] for f in report["findings"]] == ["state leaked: a.flag", "ValueError: [f]"]
    assert report["findings"][0]["message"] == "a.flag was False, is True"
    again = leaked("a.setting")
    usual.judge(Job(UNDISTURBED), again)
    assert again["findings"] == []
    assert [job.schedule for job in asked] == [UNDISTURBED], "asked once"


def test_a_scenario_has_its_set_up_for_that() -> None:
    report = leaked("a.flag")
    Usual(lambda job: leaked("a.flag"), False).judge(Job(SWITCHED), report)
    assert report == leaked("a.flag")
