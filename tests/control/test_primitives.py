"""What stands on locks: conditions, events, semaphores, barriers, queues, executors, timers, joins, sleep."""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from types import SimpleNamespace
from typing import Any

import pytest
from support.inline import Body, Inline, at, points

from harness import marker, thread_index

HOUR = 3600.0


def ok(inline: Inline, make: Callable[[], Any], *bodies: Body) -> list[Any]:
    """The results, the same whoever starts."""
    seen = []
    for first in range(len(bodies)):
        report = inline.run(bodies, make=make, first=first)
        assert report.outcome == "ok", report.message
        assert not report.uncontrolled
        seen.append(report.results)
    assert all(results == seen[0] for results in seen)
    return seen[0]


def test_event(inline: Inline) -> None:
    assert ok(inline, threading.Event, lambda event: event.wait(), lambda event: event.set()) == [True, None]


def test_event_never_set(inline: Inline) -> None:
    assert ok(inline, threading.Event, lambda event: event.wait(HOUR)) == [False]
    report = inline.run([lambda event: event.wait()], make=threading.Event)
    assert report.outcome == "deadlock"
    assert "T0 waits for a notify" in report.message


def test_a_notify_that_nobody_waited_for_is_told(inline: Inline) -> None:
    def give(condition: Any) -> None:
        with condition:
            condition.notify()

    def take(condition: Any) -> None:
        with condition:
            condition.wait()

    lost = inline.run([give, take], make=threading.Condition)
    assert lost.outcome == "deadlock"
    assert re.search(r"T1 waits for a notify at \S+ \(T0 gave one at \S+test_primitives.py:\d+, when nobody waited\)", lost.message)
    heard = inline.run([give, take, take], make=threading.Condition, first=1)  # the first of two gets it
    assert heard.outcome == "deadlock"
    assert "nobody waited" not in heard.message


def test_a_notify_without_the_lock_is_refused_as_ever(inline: Inline) -> None:
    def give(condition: Any) -> None:
        with pytest.raises(RuntimeError, match="un-acquired"):
            condition.notify()
        with condition:
            condition.wait()

    report = inline.run([give], make=threading.Condition)
    assert report.outcome == "deadlock"
    assert "nobody waited" not in report.message


def test_condition(inline: Inline) -> None:
    def make() -> Any:
        return SimpleNamespace(items=[], condition=threading.Condition())

    def take(shared: Any) -> int:
        with shared.condition:
            while not shared.items:
                shared.condition.wait()
            return shared.items.pop()

    def give(shared: Any) -> None:
        with shared.condition:
            shared.items.append(7)
            shared.condition.notify()

    assert ok(inline, make, take, give) == [7, None]


def test_condition_wait_for_with_a_time_out(inline: Inline) -> None:
    def body(condition: Any) -> bool:
        with condition:
            return condition.wait_for(lambda: False, HOUR)

    assert ok(inline, threading.Condition, body) == [False]


def test_semaphore(inline: Inline) -> None:
    inside: list[int] = []

    def body(semaphore: Any) -> int:
        with semaphore:
            inside.append(1)
            marker("inside")
            most = len(inside)
            inside.pop()
            return most

    report = inline.run(
        [body] * 3,
        at("T0", "marker:inside", "T1"),
        at("T1", "marker:inside", "T2"),
        make=lambda: threading.Semaphore(2),
    )
    assert report.outcome == "ok"
    assert max(report.results) == 2


def test_bounded_semaphore_too_often_released(inline: Inline) -> None:
    report = inline.run([lambda semaphore: semaphore.release()], make=threading.BoundedSemaphore)
    assert report.message.startswith("ValueError: Semaphore released too many times")


def test_barrier(inline: Inline) -> None:
    for first in range(3):
        report = inline.run(
            [lambda barrier: barrier.wait()] * 3, make=lambda: threading.Barrier(3), first=first
        )
        assert report.outcome == "ok"
        assert sorted(report.results) == [0, 1, 2]


def test_barrier_with_too_few(inline: Inline) -> None:
    report = inline.run([lambda barrier: barrier.wait()], make=lambda: threading.Barrier(2))
    assert report.outcome == "deadlock"
    report = inline.run([lambda barrier: barrier.wait(HOUR)], make=lambda: threading.Barrier(2))
    assert report.message.startswith("BrokenBarrierError")


@pytest.mark.parametrize("kind", ["Queue", "LifoQueue", "PriorityQueue", "SimpleQueue"])
def test_queue(inline: Inline, kind: str) -> None:
    def put(q: Any) -> None:
        for item in (1, 2):
            q.put(item)

    def get(q: Any) -> int:
        return q.get() + q.get(timeout=HOUR)

    assert ok(inline, lambda: getattr(queue, kind)(), put, get) == [None, 3]


def test_full_queue(inline: Inline) -> None:
    def put(q: Any) -> int:
        q.put(1)
        q.put(2)
        return 2

    assert ok(inline, lambda: queue.Queue(1), put, lambda q: [q.get(), q.get()]) == [2, [1, 2]]
    assert inline.run([put], make=lambda: queue.Queue(1)).outcome == "deadlock"


@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue"])
def test_empty_queue(inline: Inline, kind: str) -> None:
    def get(q: Any) -> str:
        with pytest.raises(queue.Empty):
            q.get_nowait()
        with pytest.raises(queue.Empty):
            q.get(timeout=HOUR)
        return "empty twice"

    assert ok(inline, lambda: getattr(queue, kind)(), get) == ["empty twice"]


def test_queue_join(inline: Inline) -> None:
    def work(q: Any) -> None:
        q.get()
        q.task_done()

    def wait(q: Any) -> str:
        q.put(1)
        q.join()
        return "all done"

    assert ok(inline, queue.Queue, work, wait) == [None, "all done"]


def test_executor(inline: Inline) -> None:
    def body(_: None) -> list[int]:
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda x: x * x, range(5)))

    report = inline.run([body, body])
    assert report.results == [[0, 1, 4, 9, 16]] * 2
    assert {"T0.1", "T1.1"} <= set(report.threads)
    assert not report.uncontrolled


def test_executor_time_out(inline: Inline) -> None:
    def body(_: None) -> str:
        event = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(event.wait)
            with pytest.raises(FutureTimeout):
                future.result(timeout=HOUR)
            event.set()
            return str(future.result())

    assert ok(inline, lambda: None, body) == ["True"]


def test_threads_born_inside_are_adopted(inline: Inline) -> None:
    indices: list[int] = []

    def grandchild() -> None:
        marker("grandchild")
        indices.append(thread_index())

    def child() -> None:
        thread = threading.Thread(target=grandchild)
        thread.start()
        thread.join()

    def body(_: None) -> None:
        threads = [threading.Thread(target=child) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
            assert not thread.is_alive()

    report = inline.run([lambda _: None, body])
    assert report.outcome == "ok"
    assert sorted(report.threads) == ["T0", "T1", "T1.1", "T1.1.1", "T1.2", "T1.2.1"]
    assert "start:T1.1" in points(report, "T1")
    assert points(report, "T1.2.1").count("marker:grandchild") == 1
    assert indices == [1, 1]


def test_a_child_can_be_given_the_baton_at_its_birth(inline: Inline) -> None:
    def run(*directives: Any) -> list[str]:
        log: list[str] = []

        def body(_: None) -> None:
            thread = threading.Thread(target=lambda: log.append("child"))
            thread.start()
            log.append("parent")
            thread.join()

        assert inline.run([body], *directives).outcome == "ok"
        return log

    assert sorted(run()) == ["child", "parent"]
    assert run(at("T0", "start:T0.1", "T0.1")) == ["child", "parent"]


def test_join_with_a_time_out(inline: Inline) -> None:
    def body(_: None) -> list[bool]:
        event = threading.Event()
        thread = threading.Thread(target=event.wait, daemon=True)
        thread.start()
        thread.join(HOUR)
        before = thread.is_alive()
        event.set()
        thread.join()
        return [before, thread.is_alive()]

    assert ok(inline, lambda: None, body) == [[True, False]]


def test_a_circle_of_joins_is_a_deadlock(inline: Inline) -> None:
    def body(_: None) -> None:
        me: list[Any] = []
        lock = threading.Lock()
        lock.acquire()
        child = threading.Thread(target=lock.acquire, daemon=True)
        me.append(child)
        child.start()
        child.join()

    report = inline.run([body])
    assert report.outcome == "deadlock"
    assert "T0 waits for the end of T0.1" in report.message


def test_timer(inline: Inline) -> None:
    def body(_: None) -> list[Any]:
        fired: list[float] = []
        before = time.monotonic()
        timer = threading.Timer(HOUR, lambda: fired.append(time.monotonic() - before))
        timer.start()
        cancelled = threading.Timer(HOUR, lambda: fired.append(-1))
        cancelled.start()
        cancelled.cancel()
        timer.join()
        cancelled.join()
        return [round(x) for x in fired]

    assert ok(inline, lambda: None, body) == [[3600]]


def test_sleep_is_virtual_and_in_order(inline: Inline) -> None:
    woken: list[str] = []

    def sleeper(name: str, seconds: float) -> Body:
        def body(_: None) -> None:
            time.sleep(seconds)
            woken.append(name)

        return body

    report = inline.run([sleeper("long", 2 * HOUR), sleeper("short", HOUR), lambda _: woken.append("awake")])
    assert report.outcome == "ok"
    assert woken == ["awake", "short", "long"]


def test_a_loop_that_waits_for_the_time_ends(inline: Inline) -> None:
    def body(_: None) -> None:
        end = time.monotonic() + 0.001
        while time.monotonic() < end:
            pass

    assert inline.run([body]).outcome == "ok"


def test_a_thread_local_belongs_to_its_thread(inline: Inline) -> None:
    def body(local: Any) -> bool:
        fresh = not hasattr(local, "seen")
        local.seen = True
        return fresh

    assert ok(inline, threading.local, body, body) == [True, True]


def test_install_puts_everything_back() -> None:
    from harness.control import install

    before = (threading.Lock, threading.RLock, time.sleep, queue.SimpleQueue, threading.Thread.join)
    install.install()
    install.install()
    assert threading.Lock is not before[0]
    install.uninstall()
    assert (threading.Lock, threading.RLock, time.sleep, queue.SimpleQueue, threading.Thread.join) == before
