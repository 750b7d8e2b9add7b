"""Whether a failure depends on collection is run, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.inline import at
from support.programs import write

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Directive, Schedule
from harness.verdict.on_gc import OnGC, on_gc

SOURCE = """
    from harness.garbage import plant

    class Shared:
        value = 0

    def setup(axes):
        shared = Shared()
        plant("finalizer", lambda: setattr(shared, "value", 1))
        return shared

    def body(shared):
        marker("before")
        if thread_index() == 1:
            marker("other")
        if shared.value == BAD:
            raise LookupError("finalized")
        if shared.value == WORSE:
            raise KeyError("not finalized")

    scenario = Scenario([body, body], setup=setup)
"""


@pytest.fixture(params=["1, 2", "None, None", "0, 1", "1, 0"])
def values(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def launcher(tmp_path: Path, values: str) -> Iterator[Launcher]:
    with Launcher(write(tmp_path, f"    BAD, WORSE = {values}\n{SOURCE}")) as made:
        yield made


def judged(launcher: Launcher, *directives: Directive) -> OnGC:
    schedule = Schedule(launcher.reference, 2, directives=directives)
    return on_gc(launcher, schedule, launcher.run(Job(schedule)))


COLLECT = at("T0", "marker:before", 2)
#: value that fails, value that fails otherwise -> the answer, and how it begins
ANSWERS = {
    "1, 2": (True, "yes"),
    "None, None": (False, "no: it passes"),
    "0, 1": (False, "in part"),
    "1, 0": (False, "in part"),
}


def test_with_and_without(launcher: Launcher, values: str) -> None:
    answer = judged(launcher, COLLECT)
    depends, begins = ANSWERS[values]
    assert answer.depends is depends
    assert answer.says.startswith(begins)


@pytest.mark.parametrize("values", ["0, 0"], indirect=False)
def test_a_needless_collection_is_no_reason(tmp_path: Path, values: str) -> None:
    source = f"    BAD, WORSE = {values}\n{SOURCE}".replace("plant(", "lambda *_: None or (")
    with Launcher(write(tmp_path, source)) as launcher:
        answer = judged(launcher, COLLECT)
        assert (answer.depends, answer.says) == (False, "no: it fails in the same way with the collection left out")
        assert judged(launcher).says == "no: nothing was collected in this run"


def test_what_a_finalizer_leaves_is_no_wrong_value_where_nothing_checks(tmp_path: Path) -> None:
    """In sequential orders nothing is collected: what a collection adds cannot be held against them."""
    with Launcher(write(tmp_path, f"    BAD, WORSE = None, None\n{SOURCE}")) as launcher:
        report = launcher.run(Job(Schedule(launcher.reference, 2, directives=(COLLECT,))))
    assert any(made.ran for made in report.collections)
    assert (report.outcome, report.message) == ("ok", "")
