"""A process for each body: how such a run ends, and what is seen of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.programs import write

from harness.errors import UserError
from harness.fixes import find_fix
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule
from harness.verdict import control_arm, judge

WAITS = """
import threading

class Shared:
    def __init__(self):
        self.changed, self.value = threading.Condition(), 0

def wait(shared):
    with shared.changed:
        while not shared.value:
            shared.changed.wait(1.0)

def tell(shared):
    with shared.changed:
        shared.value = 1

scenario = Scenario([wait, tell], setup=lambda axes: Shared(), seconds=3.0)
"""


SPINS = WAITS.replace("shared.changed.wait(1.0)", "pass")


def without_end(tmp_path: Path, source: str, name: str, threads: int = 2) -> str:
    reference = write(tmp_path, source, name)
    base = Schedule(reference, threads)
    with Launcher(reference, jobs=1) as launcher:
        verdict = judge(launcher, base, find_fix("per_process"), control_arm(launcher, base, budget=2), budget=2)
    assert verdict.verdict == "untested"
    return verdict.why


APART = "with a process for each body, which has none of the memory that others change"


def test_bodies_that_only_wait_for_time_to_pass_with_a_process_for_each_are_ended(tmp_path: Path) -> None:
    source = WAITS.replace("[wait, tell]", "[wait, wait, tell]").replace("seconds=3.0", "seconds=600.0")
    why = without_end(tmp_path, source, "waits", 3)
    assert f"no end: 1000 time-outs in a row, and nobody woke anybody, {APART}; waiting: T0 for " in why
    assert why.count("waits.py:1") == 2


def test_what_never_ends_with_a_process_for_each_body_is_said_in_a_line(tmp_path: Path) -> None:
    assert without_end(tmp_path, SPINS, "spins").endswith(f"no end within 3 s {APART}")


HANGS = WAITS.replace("wait(1.0)", "wait()").replace("[wait, tell]", "[wait, wait, tell]").replace("seconds=3.0", "seconds=600.0")


def test_a_deadlock_with_a_process_for_each_body_ends(tmp_path: Path) -> None:
    reference = write(tmp_path, HANGS, "hangs")
    with Launcher(reference, jobs=1) as launcher:
        report = launcher.wait(launcher.start(Job(Schedule(reference, 3), "per_process")))
    assert report.outcome == "deadlock"


ENDS_AT_ONCE = """
def end(shared):
    {how}

def wait(shared):
    marker("here")

scenario = Scenario([wait, end, wait], seconds=600.0)
"""


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("os._exit(0)", "the process left with status 0 and no report"),
        ("os._exit(3)", "the process left with status 3 and no report"),
        ("os.abort()", "killed by SIGABRT"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
        ("ctypes.string_at(0)", "killed by SIGSEGV"),
    ],
)
@pytest.mark.parametrize("fix", ["none", "per_process"])
def test_a_body_that_takes_its_process_along_is_a_crash(tmp_path: Path, how: str, message: str, fix: str) -> None:
    reference = write(tmp_path, ENDS_AT_ONCE.format(how=how))
    with Launcher(reference, jobs=1) as launcher:
        report = launcher.wait(launcher.start(Job(Schedule(reference, 3, 1), fix)))
    assert (report.outcome, report.message) == ("crash", message)
    assert ("string_at" in " ".join(report.findings[0].stack)) == ("string_at" in how)


IN_A_FILE = """
import tempfile

def setup(axes):
    file = tempfile.TemporaryFile()
    file.write(b"0")
    file.flush()
    return file

def successor(value):
    return value + 1

def count(file):
    seen = int(os.pread(file.fileno(), 9, 0))
    os.pwrite(file.fileno(), b"%d" % successor(seen), 0)
    return seen

scenario = Scenario([count, count], setup=setup, sequential=True)
"""


def test_a_race_in_a_file_is_there_with_a_process_for_each_body(tmp_path: Path) -> None:
    reference = write(tmp_path, IN_A_FILE, "in_a_file")
    base = Schedule(reference, 2)
    with Launcher(reference, jobs=1) as launcher:
        control = control_arm(launcher, base, budget=300, keep=5)
        assert control.failing
        verdict = judge(launcher, base, find_fix("per_process"), control, budget=300)
        assert verdict.verdict == "fails"
        assert "wrong value" in verdict.why
        assert " set " not in verdict.why, "what one process wrote, no other has read"


BETWEEN = """
import multiprocessing

def take(shared):
    {take}
    return "taken"

def give(shared):
    {give}
    return "given"

scenario = Scenario([take, give], setup=lambda axes: {shared}, seconds=600.0)
"""
SEMAPHORE = {"take": "shared.acquire()", "give": "shared.release()", "shared": "multiprocessing.Semaphore(0)"}
PIPE = {"take": "os.read(shared[0], 1)", "give": "os.write(shared[1], b'.')", "shared": "os.pipe()"}
QUEUE = {"take": "shared.get()", "give": "shared.put(1)", "shared": "multiprocessing.SimpleQueue()"}


def between(tmp_path: Path, first: int, **parts: str) -> Report:
    reference = write(tmp_path, BETWEEN.format(**parts))
    with Launcher(reference, jobs=1) as launcher:
        return launcher.wait(launcher.start(Job(Schedule(reference, 2, first), "per_process")))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("parts", [SEMAPHORE, PIPE, QUEUE])
def test_one_process_wakes_another(tmp_path: Path, parts: dict[str, str], first: int) -> None:
    report = between(tmp_path, first, **parts)
    assert (report.outcome, report.results) == ("ok", ["taken", "given"])


@pytest.mark.parametrize("parts", [SEMAPHORE, PIPE])
def test_nobody_wakes_it(tmp_path: Path, parts: dict[str, str]) -> None:
    report = between(tmp_path, 0, **{**parts, "give": "pass"})
    assert report.outcome == "deadlock"
    assert "T0 waits for a " in report.message


OWN_LOCKS = """
import multiprocessing

def sleeps(shared):
    lock = multiprocessing.Lock()
    for _ in range(3):
        marker("a")
        time.sleep(1.0)

def waits(shared):
    lock = multiprocessing.Lock()
    lock.acquire()
    began = time.monotonic()
    return [lock.acquire(timeout=2.5), time.monotonic() - began >= 2.4]

scenario = Scenario([sleeps, waits], seconds=60.0)
"""


def test_two_semaphores_at_one_address_are_two(tmp_path: Path) -> None:
    reference = write(tmp_path, OWN_LOCKS)
    with Launcher(reference, jobs=1) as launcher:
        report = launcher.wait(launcher.start(Job(Schedule(reference, 2), "per_process")))
    assert (report.outcome, report.results) == ("ok", [None, [False, True]])


POOLS = """
import multiprocessing

def pool(shared):
    with multiprocessing.get_context("fork").Pool(2) as workers:
        return workers.map(abs, [-1, 2])

def waits(shared):
    shared.acquire()

scenario = Scenario([pool, waits], setup=lambda axes: multiprocessing.Semaphore(0), seconds=4.0)
"""


def test_processes_of_a_body_that_keep_its_way_open_make_no_hang_of_it(tmp_path: Path) -> None:
    assert "with a process for each body" in without_end(tmp_path, POOLS, "pools")


def test_who_wakes_whom_through_a_name_is_not_followed_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    opened = f"os.open({str(path)!r}, os.O_RDWR)"
    source = BETWEEN.format(take=f"os.read({opened}, 1)", give=f"os.write({opened}, b'.')", shared="None")
    assert "it is not followed which process wakes which" in without_end(tmp_path, source, "fifo")


def test_a_body_that_closes_every_file_is_no_crash(tmp_path: Path) -> None:
    closes = "def close(shared):\n    os.closerange(3, 256)\n\nscenario = Scenario([close, close], seconds=600.0)\n"
    assert "a body closed the files through which its process is steered" in without_end(tmp_path, closes, "closes")


def test_what_is_not_plain_data_is_said_in_a_line_with_a_process_for_each_body_too(tmp_path: Path) -> None:
    reference = write(tmp_path, "def give(shared):\n    return object()\n\nscenario = Scenario([give, give])\n")
    with Launcher(reference, jobs=1) as launcher, pytest.raises(UserError, match="T[01] returned a object, not plain data"):
        launcher.wait(launcher.start(Job(Schedule(reference, 2), "per_process")))


SLEEPS = """
import time

def often(shared):
    for _ in range(400):
        time.sleep(0.1)
    return "slept"

scenario = Scenario([often, often], sequential=True)
"""


def test_bodies_that_wait_for_time_to_pass_and_end_are_not_ended(tmp_path: Path) -> None:
    reference = write(tmp_path, SLEEPS, "sleeps")
    base = Schedule(reference, 2)
    with Launcher(reference, jobs=1) as launcher:
        report = launcher.wait(launcher.start(Job(base, "per_process")))
    assert not report.failed
    assert report.results == ["slept", "slept"]
