"""Probes, effects, state saved through objects and lists; and that runs without a switch go through every oracle."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.programs import write

from harness.run.inline import InlineRunner
from harness.run.job import Job
from harness.run.report import Report
from harness.schedule import Schedule
from harness.search import explore

PROBED = """
hooks = []
def setup(axes):
    hooks.clear()
def body(shared):
    hooks.append(1)
    marker("in")
    hooks.pop()
    {more}
def works(shared):
    if hooks:
        raise RuntimeError("a hook is left")
    return len(hooks)
scenario = Scenario([body], setup=setup, probes=[works], threads=(1, 2))
"""


def plain(folder: Path, source: str, threads: int = 1) -> Report:
    with InlineRunner(write(folder, source)) as runner:
        return runner.run(Job(Schedule("s", threads)))


def test_a_probe_that_passes(tmp_path: Path) -> None:
    assert plain(tmp_path, PROBED.format(more="")).outcome == "ok"


def test_a_probe_that_raises_with_no_switch_at_all(tmp_path: Path) -> None:
    report = plain(tmp_path, PROBED.format(more="hooks.append(2)"))
    assert report.outcome == "error"
    assert report.findings[0].thread == "probe works"


def test_what_a_probe_returns_is_compared(tmp_path: Path) -> None:
    source = """
count = 0
def setup(axes):
    global count
    count = 0
def body(shared):
    global count
    seen = count
    marker("read")
    count = seen + 1
def parity(shared):
    return count
scenario = Scenario([body, body], setup=setup, probes=[parity])
"""
    with InlineRunner(write(tmp_path, source)) as runner:
        found = explore(runner, Schedule("s", 2), budget=60)
    assert "probe parity" in found.failures[0][1].signature


SAVED = """
import collections
level = 0
{before}
def setup(axes):
    global level
    level = 0
class Raised:
    def __enter__(self):
        global level
        {save}
        level = 1
    def __exit__(self, *_):
        global level
        {restore}
def body(shared):
    with Raised():
        marker("raised")
scenario = Scenario([body, body], setup=setup, sequential=False)
"""


@pytest.mark.parametrize(
    ("before", "save", "restore"),
    [
        ("", "self.saved = level", "level = self.saved"),
        ("", "self.saved = [level]", "level = self.saved[0]"),
        ("", "self.saved = level, 5", "level, x = self.saved"),
        ("", "self.saved = []; self.saved.append(level)", "level = self.saved.pop()"),
        ("", "self.saved = {}; self.saved['x'] = level", "level = self.saved['x']"),
        ("stack = collections.deque()", "stack.append(level)", "level = stack.popleft()"),
    ],
)
def test_state_saved_elsewhere_than_in_a_local(tmp_path: Path, before: str, save: str, restore: str) -> None:
    with InlineRunner(write(tmp_path, SAVED.format(before=before, save=save, restore=restore))) as runner:
        assert [state.rpartition(".")[2] for state in runner.about["save_restore"]] == ["level"]
        found = explore(runner, Schedule("s", 2), budget=100)
        assert found.failures[0][1].outcome == "state leaked"


def test_only_states_that_are_named_must_be_as_before(tmp_path: Path) -> None:
    source = SAVED.format(before="", save="self.saved = level", restore="level = self.saved")
    narrowed = source.replace("sequential=False", "sequential=False, leaks={leaks}")
    with InlineRunner(write(tmp_path, narrowed.format(leaks="['elsewhere.x']"))) as runner:
        assert runner.about["save_restore"] == []
        assert not explore(runner, Schedule("s", 2), budget=100).failures
    with InlineRunner(write(tmp_path, narrowed.format(leaks="[__name__ + '.level']"))) as runner:
        assert explore(runner, Schedule("s", 2), budget=100).failures


def test_effects_are_results(tmp_path: Path) -> None:
    report = plain(tmp_path, """
from harness.oracles.effects import Effects
class Shared:
    def __init__(self, axes):
        self.effects = Effects()
        self.made = self.effects.counted("made", lambda: 1)
def body(shared):
    for _ in range(1 + thread_index()):
        shared.made()
    return shared.effects.mine()
def check(shared, results):
    assert shared.effects.all() == {"made": 3}
scenario = Scenario([body, body], setup=Shared, check=check)
""", 2)  # fmt: skip
    assert report.outcome == "ok", report.message
    assert report.results == [{"made": 1}, {"made": 2}]
