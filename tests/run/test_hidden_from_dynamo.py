"""Our own code runs inside compiled calls, and Dynamo's hook must not be handed any of it."""

from __future__ import annotations

from harness.control.actions import Collect
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule.schedule import Directive, Schedule


def test_a_collection_inside_a_call_that_may_compile_nothing() -> None:
    """In a region without guards the hook raises at any frame that it has not compiled before."""
    plain = Schedule("patcher.guard_skip_leak", 2)
    with Launcher(plain.scenario, jobs=1) as launcher:
        thread, point, n = next(
            (thread, point, n)
            for thread, point, n, _ in launcher.run(Job(plain)).passes()
            if point.startswith("call:") and point.endswith("doubled")
        )
        report = launcher.run(Job(plain.with_directives((Directive(thread, point, n, Collect(0)),))))
    assert [made.thread for made in report.collections] == ["T1"]
    assert not report.findings
