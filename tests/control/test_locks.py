"""Locks under control: who waits is known, deadlocks are known at once, time is virtual."""

from __future__ import annotations

import pickle
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from support.inline import Inline, at, points

from harness import marker

Kind = Any


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_mutual_exclusion(inline: Inline, kind: str) -> None:
    log: list[str] = []

    def body(lock: Kind) -> None:
        with lock:
            log.append("in")
            marker("inside")
            log.append("out")

    report = inline.run([body, body], at("T0", "marker:inside", "T1"), make=getattr(threading, kind))
    assert report.outcome == "ok"
    assert log == ["in", "out"] * 2
    assert any(point.startswith("block:") for point in points(report, "T1"))
    assert report.contended


def test_an_rlock_may_be_taken_again_a_lock_may_not(inline: Inline) -> None:
    def twice(lock: Kind) -> int:
        with lock, lock:
            return 1

    assert inline.run([twice], make=threading.RLock).results == [1]
    report = inline.run([twice], make=threading.Lock)
    assert report.outcome == "deadlock"
    assert "held by T0" in report.message


def test_a_deadlock_names_both_sites_and_holders(inline: Inline) -> None:
    def one(locks: Any) -> None:
        with locks.a:
            marker("holds")
            locks.b.acquire()

    def two(locks: Any) -> None:
        with locks.b, locks.a:
            pass

    def make() -> Any:
        return SimpleNamespace(a=threading.Lock(), b=threading.RLock())

    report = inline.run([one, two], at("T0", "marker:holds", "T1"), make=make)
    assert report.outcome == "deadlock"
    first, second = report.message.split("; ")
    assert first.startswith("T0 waits for the lock made at ")
    assert second.startswith("T1 waits for the lock made at ")
    assert "held by T1, taken at" in first
    assert "held by T0, taken at" in second
    line = one.__code__.co_firstlineno
    assert f"{__file__}:{line + 3}, held by T1" in first
    assert f"taken at {__file__}:{line + 1}" in second


def test_a_timed_wait_expires_only_when_nobody_else_can_run(inline: Inline) -> None:
    log: list[str] = []

    def waits(lock: Kind) -> bool:
        got = lock.acquire(timeout=0.001)
        log.append(f"got {got}")
        return got

    def holds(lock: Kind) -> None:
        with lock:
            marker("holds")
            for step in range(100):
                marker("works")
                log.append(f"step {step}")

    report = inline.run([holds, waits], at("T0", "marker:holds", "T1"), make=threading.Lock)
    assert report.results == [None, True]
    assert log[-1] == "got True"


def test_a_timed_wait_for_what_never_comes_expires(inline: Inline) -> None:
    clock: list[float] = []

    def waits(lock: Kind) -> bool:
        import time

        before = time.monotonic()
        got = lock.acquire(timeout=3600)
        clock.append(time.monotonic() - before)
        return got

    def keeps(lock: Kind) -> None:
        lock.acquire()

    report = inline.run([keeps, waits], make=threading.Lock)
    assert (report.outcome, report.results) == ("ok", [None, False])
    assert 3600 <= clock[0] < 3601


def test_of_two_timed_waits_the_shorter_expires_first(inline: Inline) -> None:
    order: list[str] = []

    def make() -> Kind:
        lock = threading.Lock()
        lock.acquire()
        return lock

    def slow(lock: Kind) -> None:
        lock.acquire(timeout=9)
        order.append("slow")

    def quick(lock: Kind) -> None:
        lock.acquire(timeout=1)
        order.append("quick")

    inline.run([slow, quick], make=make)
    assert order == ["quick", "slow"]


def test_not_blocking(inline: Inline) -> None:
    def body(lock: Kind) -> list[bool]:
        return [lock.acquire(), lock.acquire(False), lock.acquire(blocking=False), lock.locked()]

    assert inline.run([body], make=threading.Lock).results == [[True, False, False, True]]


def test_the_same_mistakes_as_the_originals(inline: Inline) -> None:
    lock, rlock = threading.Lock(), threading.RLock()

    def mistakes(_: None) -> None:
        with pytest.raises(RuntimeError):
            lock.release()
        with pytest.raises(RuntimeError):
            rlock.release()
        with pytest.raises(ValueError, match="non-blocking"):
            lock.acquire(False, 1)

    assert inline.run([mistakes]).outcome == "ok"
    mistakes(None)
    for made in (lock, rlock):
        with pytest.raises(TypeError):
            pickle.dumps(made)


def test_released_by_another_thread(inline: Inline) -> None:
    def takes(lock: Kind) -> None:
        lock.acquire()
        lock.acquire()

    def gives(lock: Kind) -> None:
        lock.release()

    assert inline.run([takes, gives], make=threading.Lock).outcome == "ok"


def test_outside_a_run_they_are_real_locks(inline: Inline) -> None:
    lock = threading.Lock()
    seen: list[bool] = []
    with lock:
        thread = threading.Thread(target=lambda: seen.append(lock.acquire(False)))
        thread.start()
        thread.join()
    assert seen == [False]
    assert not lock.locked()


def test_a_lock_held_by_main_is_said_to_be(inline: Inline) -> None:
    def make() -> Kind:
        lock = threading.Lock()
        lock.acquire()
        return lock

    report = inline.run([lambda lock: lock.acquire() and None], make=make)
    assert report.outcome == "deadlock"
    assert "held by a thread outside the run" in report.message


def test_lock_points_are_named_by_their_user(inline: Inline) -> None:
    def user(lock: Kind) -> None:
        with lock:
            pass

    report = inline.run([user], make=threading.Lock)
    name = points(report)[0].partition(":")[2]
    assert points(report) == [f"lock:{name}", f"unlock:{name}", "end"][: len(points(report))]
    assert name.startswith(__name__)
    assert name.endswith("user")
