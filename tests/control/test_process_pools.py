"""``multiprocessing.Pool`` and the semaphores under it: its helper threads are bodies' threads, its workers forked children."""

from __future__ import annotations

import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.inline import Inline, at, points
from support.programs import write

from harness import marker
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.twins import difference
from harness.schedule import Schedule

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="told from /proc"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]
FORK = multiprocessing.get_context("fork")


#: In a process of its own: ``multiprocessing`` must be imported under control.
POOLS = """
from multiprocessing import get_context
def square(number):
    return number * number
def left_early(_):
    with get_context("fork").Pool(2) as pool:
        return pool.map(square, [1, 2, 3], chunksize=1)
def joined(_):
    pool = get_context("fork").Pool(1)
    made = [pool.apply_async(square, (number,)) for number in (1, 2)]
    pool.close()
    pool.join()
    return [each.get() for each in made]
scenario = Scenario([left_early, joined], sequential=False)
alone = Scenario([joined], threads=(1, 1))
"""


def test_pools_end(tmp_path: Path) -> None:
    with Launcher(write(tmp_path, POOLS), jobs=1) as launcher:
        for first in (0, 1):
            report = launcher.run(Job(Schedule(launcher.reference, 2, first)))
            assert (report.outcome, report.results, report.uncontrolled) == ("ok", [[1, 4, 9], [1, 4]], [])


def test_two_runs_of_a_pool_are_one(tmp_path: Path) -> None:
    reference = write(tmp_path, POOLS).replace(":scenario", ":alone")
    with Launcher(reference, jobs=1) as launcher:
        one, other = (launcher.run(Job(Schedule(reference, 1))) for _ in range(2))
    assert (one.outcome, one.results, difference(one, other)) == ("ok", [[1, 4]], "")


def test_a_semaphore_between_threads(inline: Inline) -> None:
    """Who waits for one is known to wait, and goes on behind the point where it is given back."""

    def adds(value: Any) -> None:
        with value.get_lock():
            seen = value.value
            marker("inside")
            value.value = seen + 1

    def run() -> Any:
        value: Any = FORK.Value("i", 0)
        report = inline.run([adds, adds], at("T0", "marker:inside", "T1"), make=lambda: value)
        return report, value.value

    for report, value in (run(), run()):
        assert (report.outcome, report.uncontrolled, value) == ("ok", [], 2)
        assert "block:SemLock" in points(report, "T1")


def test_a_semaphore_that_nobody_gives_back_in_time(inline: Inline) -> None:
    def twice(lock: Any) -> list[bool]:
        return [lock.acquire(timeout=3600.0), lock.acquire(timeout=3600.0), lock.acquire(block=False)]

    assert inline.run([twice], make=FORK.Lock).results == [[True, False, False]]


def test_who_is_woken_and_comes_too_late_waits_on(inline: Inline) -> None:
    lock: Any = FORK.Lock()
    lock.acquire()

    def waits(_: Any) -> bool:
        return lock.acquire(timeout=3600.0)

    def gives_back(_: Any) -> None:
        for _ in range(2):
            lock.release()
            time.sleep(1.0)

    assert inline.run([waits, waits, gives_back], make=lambda: None).results == [True, True, None]
