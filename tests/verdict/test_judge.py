"""Verdicts on fixes, each with its control arm; user fixes as module:name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.programs import write

from harness.errors import UserError
from harness.fixes import find_fix
from harness.run.launch import Launcher
from harness.schedule import Schedule
from harness.verdict import Verdict, control_arm, judge

FIXES = '''
import contextlib, threading
import subject

@contextlib.contextmanager
def nothing():
    """Does nothing at all."""
    yield

@contextlib.contextmanager
def locked():
    """One lock around the whole update."""
    lock, slow = threading.Lock(), subject.slow
    def patched(counter):
        with lock:
            return slow(counter)
    subject.slow = patched
    yield
    subject.slow = slow

@contextlib.contextmanager
def raises():
    raise RuntimeError("needs a newer kernel")
    yield

@contextlib.contextmanager
def silenced():
    """The check is made silent; the damage is there."""
    subject.LOUD = False
    yield
    subject.LOUD = True

not_callable = 3
'''
SUBJECT = """
LOUD = True
class Counter:
    def __init__(self):
        self.value = 0
def successor(value):
    return value + 1
def add(counter):
    seen = counter.value
    counter.value = successor(seen)
    if LOUD and counter.value != seen + 1:
        raise RuntimeError("counter jumped")
    return 0
def slow(counter):
    seen = counter.value
    marker("between")
    if counter.value != seen and LOUD:
        raise RuntimeError("somebody else was here")
    counter.value = seen + 1
"""
RACY = """
import subject
subject.marker = marker
def body(counter):
    subject.{function}(counter)
def check(counter, results):
    assert counter.value == len(results), f"{{len(results)}} additions, value {{counter.value}}"
scenario = Scenario(
    [body, body], setup=lambda axes: subject.Counter(), check=check, modules=["subject"], fine=["subject"]
)
"""
SAFE = """
def body(shared):
    marker("a")
    marker("b")
scenario = Scenario([body, body])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "userfixes.py").write_text(FIXES)
    (tmp_path / "subject.py").write_text(SUBJECT)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def verdict(folder: Path, source: str, fix: str, budget: int = 150) -> Verdict:
    reference = write(folder, source)
    with Launcher(reference) as launcher:
        base = Schedule(reference, 2)
        control = control_arm(launcher, base, budget=budget)
        return judge(launcher, base, find_fix(fix), control, budget=budget)


def test_none_fails(folder: Path) -> None:
    given = verdict(folder, RACY.format(function="add"), "none")
    assert given.verdict == "fails"
    assert given.failing is not None
    assert len(given.failing.directives) == 1


def test_a_fix_that_does_nothing_fails(folder: Path) -> None:
    given = verdict(folder, RACY.format(function="slow"), "userfixes:nothing")
    assert given.verdict == "fails"
    assert given.failing is not None
    assert "somebody else was here" in given.why
    assert given.schedules > 0


def test_a_lock_that_repairs_holds(folder: Path) -> None:
    given = verdict(folder, RACY.format(function="slow"), "userfixes:locked", 600)
    assert given.verdict == "holds", given
    assert "failing schedules pass" in given.rests_on
    assert given.failing is None


def test_a_wrong_value_that_stays_is_not_masked(folder: Path) -> None:
    """Without the fix there was no error either."""
    assert (
        verdict(
            folder,
            RACY.format(function="slow").replace("scenario =", "subject.LOUD = False\nscenario ="),
            "userfixes:nothing",
        ).verdict
        == "fails"
    )


def test_per_process_holds_where_nothing_is_checked_across(folder: Path) -> None:
    source = RACY.format(function="slow").replace("check=check, ", "")
    given = verdict(folder, source, "per_process", 1000)
    assert given.verdict == "holds", given
    assert "no state of one process was touched by two bodies" in given.why


def test_a_fix_that_only_silences_masks(folder: Path) -> None:
    given = verdict(folder, RACY.format(function="slow"), "userfixes:silenced")
    assert given.verdict == "masks", given
    assert given.failing is not None
    found = re.search(r"(\d+) of (\d+) schedules fail; a search for errors ended after (\d+) schedules, as many as the control", given.rests_on)
    assert found is not None, given
    assert int(found[2]) - int(found[3]) <= 40, "no longer than it took without the fix, beside what failed then"


def test_a_fix_that_raises_is_untested_with_its_message(folder: Path) -> None:
    given = verdict(folder, RACY.format(function="slow"), "userfixes:raises")
    assert given.verdict == "untested"
    assert "needs a newer kernel" in given.why


@pytest.mark.parametrize("fix", ["none", "userfixes:nothing", "per_process"])
def test_what_cannot_fail_gives_no_holds(folder: Path, fix: str) -> None:
    given = verdict(folder, SAFE, fix)
    assert given.verdict == "untested"


def test_a_search_cut_short_gives_no_holds(folder: Path) -> None:
    given = verdict(folder, RACY.format(function="slow"), "userfixes:locked", budget=6)
    assert given.verdict == "untested", given
    assert "inconclusive" in given.rests_on or "no schedule fails" in given.rests_on


@pytest.mark.parametrize(
    "name",
    [
        "nonsense",
        "userfixes:absent",
        "no.module:x",
        "userfixes:not_callable",
        ":",
        "userfixes:",
        ":x",
        "..:x",
    ],
)
def test_unknown_fixes(folder: Path, name: str) -> None:
    with pytest.raises(UserError):
        find_fix(name)


def test_a_users_fix_has_its_summary(folder: Path) -> None:
    assert find_fix("userfixes:locked").summary == "One lock around the whole update."
