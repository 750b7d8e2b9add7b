"""A forked child has one thread; what others had at the fork stays as it was, and how the child ends comes back."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from support.inline import Inline, at, points

from harness import marker
from harness.run.report import Report

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="told from /proc"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]


def forking(child: Callable[[Any], int]) -> Callable[[Any], int]:
    """A body that forks and waits; ``child`` returns the exit status of its process."""

    def forks(shared: Any) -> int:
        pid = os.fork()
        if pid == 0:
            os._exit(child(shared))
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    return forks


def holds(lock: Any) -> None:
    with lock:
        marker("inside")


def takes(lock: Any) -> int:
    with lock:
        return 7


def lock() -> Any:
    return threading.Lock()  # looked up in the run: a lock of the interpreter's own is not under control


def rlock() -> Any:
    return threading.RLock()


def within(inline: Inline, body: Callable[[Any], Any], make: Any = lock) -> Report:
    """The fork takes place while T0 has the lock."""
    return inline.run([holds, body], at("T0", "marker:inside", "T1"), make=make)


def test_its_status_comes_back(inline: Inline) -> None:
    report = inline.run([holds, forking(takes)], make=lock)
    assert (report.outcome, report.results) == ("ok", [None, 7])


@pytest.mark.parametrize("make", [lock, rlock])
def test_a_lock_of_a_thread_that_is_not_there(inline: Inline, make: Any) -> None:
    report = within(inline, forking(takes), make)
    assert report.outcome == "deadlock"
    waits, child = report.message.split("; ")
    assert waits.startswith("T1 waits for the end of T1's child at ")
    assert child.startswith("T1's child waits for the lock made at ")
    assert ", held by T0, which does not exist there, taken at " in child
    assert any(line.startswith("T1's child: ") and line.endswith(" takes") for line in report.findings[0].stack)
    assert report.results == [None, None]
    assert within(inline, forking(takes), make).digest == report.digest


def test_nobody_waits_for_it(inline: Inline) -> None:
    def forks(lock: Any) -> str:
        if os.fork() == 0:
            os._exit(takes(lock))
        return "went on"

    report = within(inline, forks)
    assert (report.outcome, report.results) == ("deadlock", [None, "went on"])
    assert report.message.startswith("T1's child waits for the lock ")


def test_a_lock_that_the_forking_thread_has_is_its_own_there_too(inline: Inline) -> None:
    def forks(lock: Any) -> int:
        with lock:
            pid = os.fork()
        if pid == 0:
            os._exit(takes(lock))
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    report = within(inline, forks, rlock)
    assert (report.outcome, report.results) == ("ok", [None, 7])


def test_time_outs_expire_in_a_child(inline: Inline) -> None:
    report = within(inline, forking(lambda lock: int(lock.acquire(timeout=3600.0))))
    assert (report.outcome, report.results) == ("ok", [None, 0])


def test_a_lock_that_a_child_uses_matters_to_the_search(inline: Inline) -> None:
    report = inline.run([holds, forking(takes)], make=lock)
    assert any(key.startswith("lock:") and key.endswith(".holds") for key in report.contended)
    report = inline.run([holds, forking(lambda _: 0)], make=lock)
    assert report.contended == []


def test_what_a_child_raises(inline: Inline) -> None:
    def forks(_: Any) -> int:
        pid = os.fork()
        if pid == 0:
            raise ValueError("in the child")
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    report = inline.run([forks])
    assert (report.outcome, report.message) == ("error", "ValueError: in the child")
    assert (report.findings[0].thread, report.results) == ("T0's child", [1])


def test_a_child_that_crashes(inline: Inline) -> None:
    report = inline.run([forking(lambda _: os.kill(os.getpid(), signal.SIGABRT) or 0)])
    assert (report.outcome, report.message) == ("crash", "T0's child was killed by SIGABRT")


def test_a_child_that_is_killed_on_purpose(inline: Inline) -> None:
    def forks(_: Any) -> int:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        os.kill(pid, signal.SIGTERM)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert inline.run([forks]).results == [-signal.SIGTERM]


def test_threads_of_a_child(inline: Inline) -> None:
    def child(_: Any) -> int:
        lock, done = threading.Lock(), threading.Event()
        thread = threading.Thread(target=lambda: (holds(lock), done.set()))
        thread.start()
        done.wait()
        thread.join()
        return 5

    assert inline.run([forking(child)]).results == [5]


def test_a_deadlock_among_threads_of_a_child(inline: Inline) -> None:
    def child(_: Any) -> int:
        lock = threading.Lock()
        lock.acquire()
        thread = threading.Thread(target=lock.acquire)
        thread.start()
        thread.join()
        return 0

    report = inline.run([forking(child)])
    assert report.outcome == "deadlock"
    assert "T0's child waits for the end of T0's child.1" in report.message
    assert "T0's child.1 waits for the lock " in report.message


def test_a_child_of_a_child(inline: Inline) -> None:
    report = within(inline, forking(forking(takes)))
    assert report.outcome == "deadlock"
    assert "T1's child's child waits for the lock " in report.message
    assert inline.run([forking(forking(lambda _: 3))]).results == [3]


@pytest.mark.parametrize("first", [0, 1])
def test_a_child_that_needs_another_thread_of_the_run(inline: Inline, first: int) -> None:
    def writes(pipe: Any) -> None:
        os.write(pipe[1], b"x")

    report = inline.run([forking(lambda pipe: ord(os.read(pipe[0], 1))), writes], make=os.pipe, first=first)
    assert (report.outcome, report.results) == ("ok", [ord("x"), None])


def test_asking_whether_it_has_ended(inline: Inline) -> None:
    """The answer does not depend on how fast it is."""

    def forks(_: Any) -> int:
        pid, times = os.fork(), 0
        if pid == 0:
            time.sleep(0.2)
            os._exit(0)
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            times += 1
        return times

    assert inline.run([forks]).results == [0]


@pytest.mark.parametrize(
    "wait",
    [
        lambda pid: os.wait()[0] - pid,
        lambda pid: os.wait3(0)[0] - pid,
        lambda pid: os.wait4(pid, 0)[0] - pid,
        lambda pid: os.waitpid(-1, 0)[0] - pid,
        lambda pid: os.waitid(os.P_PID, pid, os.WEXITED).si_pid - pid,
    ],
)
def test_ways_to_wait(inline: Inline, wait: Callable[[int], int]) -> None:
    def forks(lock: Any) -> int:
        pid = os.fork()
        if pid == 0:
            os._exit(takes(lock))
        return wait(pid)

    assert inline.run([forks], make=lock).results == [0]
    assert within(inline, forks).outcome == "deadlock"


def test_directives_are_for_threads_of_the_run(inline: Inline) -> None:
    def child(_: Any) -> int:
        marker("here")
        return 4

    report = inline.run([forking(child), lambda _: None], at("T0", "marker:here", "T1"))
    assert [finding.kind for finding in report.findings] == ["not aligned"]
    assert "marker:here" not in points(report)


@pytest.mark.parametrize("known", [False, True])
def test_multiprocessing(inline: Inline, known: bool) -> None:
    """``known``: to ``threading``, for which the thread that forks is main in the child."""
    context = multiprocessing.get_context("fork")

    def starts(lock: Any) -> int | None:
        if known:
            threading.current_thread()
        process = context.Process(target=takes, args=(lock,))
        process.start()
        process.join()
        return process.exitcode

    report = inline.run([holds, starts], make=lock)
    assert (report.findings, report.results) == ([], [None, 0])
    assert within(inline, starts).outcome == "deadlock"
