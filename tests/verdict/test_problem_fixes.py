"""A fix that raises, deadlocks, leaves something behind or breaks the program is reported as exactly that."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from support.programs import write

from harness.cli import main
from harness.errors import UserError
from harness.fixes import find_fix
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule
from harness.verdict import control_arm, judge
from harness.verdict.judge import fallen

COUNTER = """
class Counter:
    value = 0

def successor(value):
    return value + 1

def step(counter):
    seen = counter.value
    counter.value = successor(seen)

def add(counter):
    step(counter)

def check(counter, results):
    assert counter.value == 2

scenario = Scenario([add, add], setup=lambda axes: Counter(), check=check)
"""

FIXES = """
import contextlib, fractions, threading

@contextlib.contextmanager
def leaves_settings():
    import os, sys, threading
    module, original = _patched(_under(threading.Lock()))
    os.environ["ONE_LOCK"] = "1"
    sys.setrecursionlimit(sys.getrecursionlimit() + 50)
    sys.modules["left_by_a_fix"] = module
    del sys.modules["fractions"]
    threading.Thread(target=threading.Event().wait, name="left running", daemon=True).start()
    yield
    module.step = original

def no_manager():
    pass

def _patched(make):
    import sys
    module = sys.modules["counter"]
    original, module.step = module.step, make(module.step)
    return module, original

def _under(lock):
    def make(step):
        def locked(counter):
            with lock:
                step(counter)
        return locked
    return make

@contextlib.contextmanager
def one_lock():
    '''One lock around the step.'''
    module, original = _patched(_under(threading.Lock()))
    yield
    module.step = original

@contextlib.contextmanager
def leaves_its_lock():
    _patched(_under(threading.Lock()))
    yield

@contextlib.contextmanager
def raises():
    raise OSError("no such device")
    yield

@contextlib.contextmanager
def never_gives_back():
    lock = threading.Lock()
    def make(step):
        def locked(counter):
            lock.acquire()
            step(counter)
        return locked
    module, original = _patched(make)
    yield
    module.step = original

@contextlib.contextmanager
def breaks():
    def make(step):
        return lambda counter: setattr(counter, "value", 7)
    module, original = _patched(make)
    yield
    module.step = original

not_a_function = 3
"""


@pytest.fixture(scope="module")
def verdict_of(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("fixes")
    reference = write(folder, COUNTER, "counter")
    fixes = folder / "own.py"
    fixes.write_text(dedent(FIXES))
    with Launcher(reference, jobs=1) as launcher:
        base = Schedule(reference, 2)
        control = control_arm(launcher, base, budget=200, keep=5)
        assert control.failing

        def judged(name: str):
            return judge(launcher, base, find_fix(f"{fixes}:{name}"), control, budget=600)

        yield judged


@pytest.mark.parametrize(
    ("fix", "verdict", "why"),
    [
        ("one_lock", "holds", ""),
        ("leaves_its_lock", "fails", "when it is no longer in force, it leaves changed: counter.step (while it is in force: holds, "),
        (
            "leaves_settings", "fails",
            "leaves changed: fractions in sys.modules, os.environ['ONE_LOCK'], sys.getrecursionlimit(), the thread left running (",
        ),
        ("raises", "untested", "OSError: no such device"),
        ("no_manager", "untested", "own.py:no_manager gives a NoneType, not a context manager"),
        ("never_gives_back", "fails", "under it the program fails without any switch: deadlock: T"),
        ("breaks", "fails", "under it the program fails without any switch: wrong value"),
    ],
)
def test_told_for_what_it_is(verdict_of, fix, verdict, why):
    judged = verdict_of(fix)
    assert judged.verdict == verdict, judged.why
    assert why in judged.why


def test_a_deadlock_names_both_sides(verdict_of):
    assert "waits for" in verdict_of("never_gives_back").why


class _TooBusy:
    """A runner on which a run failed, and those that are asked for now do as ``ended`` says."""

    jobs, restored, fewest, bodies = 1, frozenset(), 2, 2

    def __init__(self, outcome, ended):
        self.outcome, self.ended, self.made = outcome, ended, 0

    def start(self, job):
        self.made += 1
        return self.made

    def wait(self, number):
        outcome, signature = ("ok", "") if self.ended else (self.outcome, self.outcome)
        return Report(outcome=outcome, signature=signature, threads=["T0", "T1"])

    def map(self, jobs):
        return ((job, self.wait(0)) for job in jobs)


@pytest.mark.parametrize("outcome", ["hang", "deadlock", "crash"])
@pytest.mark.parametrize(("ended", "verdict"), [(True, "untested"), (False, "fails")])
def test_a_failure_counts_when_it_is_there_again(outcome, ended, verdict):
    seen = Report(outcome=outcome, signature=outcome, message="no end after 60 s", threads=["T0", "T1"])
    runner = _TooBusy(outcome, ended)
    found = fallen(runner, find_fix("none"), "fails", (Schedule("s", 2), seen), 9, 20, "1 of 9", Schedule("s", 2))
    assert found.verdict == verdict, found.why
    assert ("run again it passes" in found.why) == ended


@pytest.mark.parametrize("name", ["not_a_function", "nothing"])
def test_what_is_no_fix(tmp_path: Path, name: str):
    (tmp_path / "fixes.py").write_text("not_a_function = 3\n")
    with pytest.raises(UserError, match="a fix is a context manager without arguments"):
        find_fix(f"{tmp_path}/fixes.py:{name}")


def test_fixes_about_torch_are_not_for_a_program_without(tmp_path: Path, capsys):
    assert main(["check", write(tmp_path, COUNTER), "--budget", "60", "--json"]) == 0
    import json

    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["fix"] for row in rows] == ["none", "per_process"]
    assert rows[1]["verdict"] == "untested"  # its check looks at an object that the processes don't share


PROGRAM = """
value = 0
def one(seen):
    return seen + 1
def add():
    global value
    seen = value
    value = one(seen)
"""
USES_IT = """
import prog
def body(shared):
    prog.add()
def check(shared, results):
    assert prog.value == 2
scenario = Scenario([body, body], check=check, modules=["prog"], threads=(2, 2))
"""
SAME_RACE = """
import contextlib, prog
def replaced(add):
    original, prog.add = prog.add, add
    try:
        yield
    finally:
        prog.add = original
@contextlib.contextmanager
def in_the_module():
    def add():
        seen = prog.value
        prog.value = prog.one(seen)
    yield from replaced(add)
"""


def test_a_fix_with_a_race_of_its_own_does_not_hold(tmp_path: Path, monkeypatch):
    """What a fix does is part of the program: its code has points."""
    (tmp_path / "prog.py").write_text(PROGRAM)
    (tmp_path / "same.py").write_text(SAME_RACE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    reference, name = write(tmp_path, USES_IT, "uses"), f"{tmp_path}/same.py:in_the_module"
    with Launcher(reference, fixes=[name]) as launcher:
        base = Schedule(reference, 2)
        control = control_arm(launcher, base, budget=60, keep=5)
        assert control.failing
        judged = judge(launcher, base, find_fix(name), control, budget=600)
    assert judged.verdict == "fails", judged.rests_on
