"""``multiprocessing.Pool`` and the semaphores under it: its helper threads are bodies' threads, its workers forked children."""

from __future__ import annotations

import multiprocessing
import sys
from typing import Any

import pytest
from support.inline import Inline, at, points

from harness import marker

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="told from /proc"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]
FORK = multiprocessing.get_context("fork")


def square(number: int) -> int:
    return number * number


def left_early(_: Any) -> list[int]:
    with FORK.Pool(2) as pool:
        return pool.map(square, [1, 2, 3], chunksize=1)


def joined(_: Any) -> list[int]:
    pool = FORK.Pool(1)
    made = [pool.apply_async(square, (number,)) for number in (1, 2)]
    pool.close()
    pool.join()
    return [each.get() for each in made]


@pytest.mark.parametrize(("body", "expected"), [(left_early, [1, 4, 9]), (joined, [1, 4])])
def test_a_pool_ends(inline: Inline, body: Any, expected: list[int]) -> None:
    report = inline.run([body, lambda _: marker("a")])
    assert (report.outcome, report.results, report.uncontrolled) == ("ok", [expected, None], [])


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
