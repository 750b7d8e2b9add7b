"""A process for each body, and bodies that start threads: those of one body share its process."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.programs import write

from harness.fixes import find_fix
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule
from harness.verdict import control_arm, judge

WITHIN = """
class Shared:
    def __init__(self):
        self.counts = [0, 0]

def successor(value):
    return value + 1

def count(shared, which):
    seen = shared.counts[which]
    shared.counts[which] = successor(seen)

def both(shared):
    me = thread_index()
    workers = [threading.Thread(target=count, args=(shared, me)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return shared.counts[me]

scenario = Scenario([both, both], setup=lambda axes: Shared(), sequential=True)
"""


def test_a_race_of_a_body_with_itself_is_there_in_its_own_process_too(tmp_path: Path) -> None:
    reference = write(tmp_path, WITHIN, "within")
    base = Schedule(reference, 2)
    with Launcher(reference, jobs=1) as launcher:
        control = control_arm(launcher, base, budget=300, keep=3)
        assert control.failing
        verdict = judge(launcher, base, find_fix("per_process"), control, budget=300)
        assert verdict.verdict == "fails"
        assert verdict.failing is not None
        again = [launcher.wait(launcher.start(Job(verdict.failing, "per_process"))) for _ in range(2)]
    assert [report.outcome for report in again] == ["wrong value"] * 2
    assert again[0].digest == again[1].digest


BETWEEN = """
class Shared:
    def __init__(self):
        self.count = 0

def successor(value):
    return value + 1

def count(shared):
    seen = shared.count
    shared.count = successor(seen)
    return seen

def sends(shared):
    seen = []
    worker = threading.Thread(target=lambda: seen.append(count(shared)))
    worker.start()
    worker.join()
    return seen

scenario = Scenario([sends, sends], setup=lambda axes: Shared(), sequential=True)
"""


@pytest.mark.parametrize("where", ["memory", "file"])
def test_a_race_between_threads_of_two_bodies_is_gone_where_they_share_memory_alone(tmp_path: Path, where: str) -> None:
    source = BETWEEN
    if where == "file":
        source = source.replace("self.count = 0", f"self.path = {str(tmp_path / 'count')!r}; write(self, 0)")
        source = source.replace("seen = shared.count", "seen = int(os.pread(shared.file, 9, 0))")
        source = source.replace("shared.count = successor(seen)", "write(shared, successor(seen))")
        source += """
def write(shared, value):
    shared.file = os.open(shared.path, os.O_RDWR | os.O_CREAT)
    os.pwrite(shared.file, b"%d" % value, 0)
"""
    reference = write(tmp_path, source, "between")
    base = Schedule(reference, 2)
    with Launcher(reference, jobs=1) as launcher:
        control = control_arm(launcher, base, budget=300, keep=2)
        assert control.failing
        verdict = judge(launcher, base, find_fix("per_process"), control, budget=60)
    if where == "memory":  # no search as short as this comes to its end
        assert (verdict.verdict, verdict.failing) == ("untested", None)
        assert "all 2 failing schedules pass" in verdict.rests_on
    else:
        assert verdict.verdict == "fails"
        assert verdict.failing is not None
        assert any("." in directive.thread for directive in verdict.failing.directives)


LATER = """
done = threading.Event()

def late():
    done.wait()
    {does}

def starts(shared):
    threading.Thread(target=late, daemon={daemon}).start()
    {sets}
    return thread_index()

def alone(shared):
    return thread_index()

scenario = Scenario([starts, alone], seconds=600.0)
"""


def run(tmp_path: Path, source: str) -> Report:
    reference = write(tmp_path, source)
    with Launcher(reference, jobs=1) as launcher:
        return launcher.wait(launcher.start(Job(Schedule(reference, 2), "per_process")))


def test_a_thread_that_outlives_its_body_is_waited_for_and_its_error_told(tmp_path: Path) -> None:
    report = run(tmp_path, LATER.format(does="1 / 0", daemon=False, sets="done.set()"))
    assert report.results == [0, 1]
    assert report.outcome == "error"
    assert report.findings[0].message.startswith("ZeroDivisionError")
    assert report.findings[0].thread == "T0.1"


def test_an_idle_daemon_keeps_nobody(tmp_path: Path) -> None:
    report = run(tmp_path, LATER.format(does="pass", daemon=True, sets="pass"))
    assert (report.results, report.outcome) == ([0, 1], "ok")


@pytest.mark.parametrize("first", [0, 1])
def test_a_deadlock_within_one_of_the_processes(tmp_path: Path, first: int) -> None:
    waits = LATER.replace(".start()", ".start(); [t.join() for t in threading.enumerate() if t.name == 'late']")
    waits = waits.replace("target=late,", "target=late, name='late',")
    reference = write(tmp_path, waits.format(does="pass", daemon=False, sets="pass"))
    with Launcher(reference, jobs=1) as launcher:
        report = launcher.wait(launcher.start(Job(Schedule(reference, 2, first), "per_process")))
    assert report.outcome == "deadlock"
    assert "T0 waits for the end of T0.1" in report.message
    assert "T0.1 waits for" in report.message


FORKS = """
def starts_there(shared):
    child = os.fork()
    if not child:
        said = []
        worker = threading.Thread(target=lambda: said.append(7))
        worker.start()
        worker.join()
        os._exit(said[0])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

scenario = Scenario([starts_there, starts_there], seconds=60.0)
"""


def test_a_forked_child_of_a_body_starts_threads(tmp_path: Path) -> None:
    report = run(tmp_path, FORKS)
    assert (report.results, report.outcome) == ([7, 7], "ok")
