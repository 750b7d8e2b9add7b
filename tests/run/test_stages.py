"""Set-up done once in a process that the runs are forked from: the same runs, and a way out where it can't be."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule

COUNTER = """
    import os
    import threading
    import time
    from harness import Scenario

    class Counter:
        def __init__(self, axes):
            self.value = axes.get("start", 0)
            self.made_in = os.getpid()
            {made}

    def successor(value):
        return value + 1

    def add(counter):
        seen = counter.value
        counter.value = successor(seen)
        return [counter.made_in, os.getpid()]

    scenario = Scenario(bodies=[add, add], setup=Counter, axes={{"start": [0, 5]}}, fork_after_setup={staged}, seconds=2.0, sequential=False)
"""


@pytest.fixture
def counter(tmp_path: Path):
    def write(staged: bool, made: str = "pass") -> str:
        file = tmp_path / str(staged) / "counter.py"  # points have the file's name in them
        file.parent.mkdir()
        file.write_text(textwrap.dedent(COUNTER.format(staged=staged, made=made)))
        return str(file)

    return write


def runs(launcher: Launcher, threads: int = 2, **axes: int):
    job = Job(Schedule(launcher.reference, threads, axes=axes))
    return [report for _, report in launcher.map([job] * 3)]


def test_set_up_is_done_once_and_each_run_is_a_process_of_its_own(counter):
    with Launcher(counter(True)) as launcher:
        results = [pair for report in runs(launcher) for pair in report.results]
    assert len({made for made, _ in results}) == 1
    assert len({ran for _, ran in results}) == 3


def test_each_choice_of_threads_and_axes_has_its_own(counter):
    with Launcher(counter(True)) as launcher:
        made = {runs(launcher, threads, start=start)[0].results[0][0] for threads in (2, 3) for start in (0, 5)}
        assert len(made) == 4
        for threads in range(2, 9):  # more than are kept open
            for start in (0, 5):
                assert not runs(launcher, threads, start=start)[0].failed


def test_the_same_runs_as_without(counter):
    with Launcher(counter(True)) as staged, Launcher(counter(False)) as plain:
        ours, theirs = runs(staged)[0], runs(plain)[0]
    assert [made == ran for made, ran in theirs.results] == [True, True]
    assert ours.digest == theirs.digest
    assert list(ours.passes()) == list(theirs.passes())


def test_a_thread_of_set_up_would_be_missing_so_every_run_does_it(counter):
    idle = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    with Launcher(counter(True, idle)) as launcher:
        results = [pair for report in runs(launcher) for pair in report.results]
    assert all(made == ran for made, ran in results)


def test_a_set_up_that_raises_is_the_author_s_mistake(counter):
    with Launcher(counter(True, "axes['depth']")) as launcher, pytest.raises(UserError, match="KeyError: 'depth'"):
        runs(launcher)


def test_a_set_up_without_end_is_a_hang(counter):
    with Launcher(counter(True, "threading.Event().wait()")) as launcher:
        assert runs(launcher)[0].outcome == "hang"
