"""torch 2.0.0, far below what scenarios are for: the one failure that only it has is found there, with nothing to help.

    harness env add 2.0.0 --python 3.10
"""

from __future__ import annotations

import pytest

from harness.control.frames import BEGUN
from harness.releases import cache
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule
from harness.search import explore
from harness.search.reduce import reduce
from harness.verdict.on_gc import on_gc

HERE = cache.find("2.0.0", "3.10")
NAME = "gc.generator_in_window"


def not_compiled(report: Report) -> bool:
    """A generator that is closed while the function runs loses its ``finally`` too; the function is compiled by then."""
    return report.failed and "compile" not in report.results[0]


@pytest.mark.slow
@pytest.mark.skipif(HERE is None, reason="needs: harness env add 2.0.0 --python 3.10")
def test_a_generator_closed_in_the_window() -> None:
    assert HERE is not None
    with Launcher(NAME, jobs=1, python=HERE.interpreter) as launcher:
        assert launcher.about["torch"].startswith("2.0.0")
        found = explore(launcher, Schedule(NAME, 1), budget=300, stop=lambda _, report: not_compiled(report))
        assert found.failures
        assert not_compiled(found.failures[-1][1])
        schedule, report, _ = reduce(launcher, *found.failures[-1])
        (directive,) = schedule.directives
        assert directive.point == "write:torch._C._dynamo.eval_frame.set_eval_frame"
        assert report.signature.startswith("no sequential order gives this: results")
        again = [each for _, each in launcher.map([Job(schedule)] * 20)]
        assert {(each.signature, each.digest) for each in again} == {(report.signature, again[0].digest)}
        assert on_gc(launcher, schedule, report).depends
        log = launcher.run(Job(schedule, frames=True))
        assert log.digest == again[0].digest
        assert [(seen.what, seen.function) for seen in log.frames] == [(BEGUN, "harness.garbage.generator.suspended")]
