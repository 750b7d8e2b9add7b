"""Threads that wait for a file: asyncio, pools of multiprocessing, pipes, selectors."""

from __future__ import annotations

import asyncio
import os
import select
import selectors
import socket
import sys
import threading
from multiprocessing.pool import ThreadPool
from typing import Any

import pytest
from support.inline import Inline, at

from harness import marker

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="told by poll")

HOUR = 3600.0


class Counter:
    def __init__(self) -> None:
        self.value = 0
        self.lock = threading.Lock()

    def add(self, _: Any = None) -> None:
        seen = self.value
        marker("between")
        self.value = seen + 1

    def add_locked(self, _: Any = None) -> None:
        with self.lock:
            self.add()


def pooled(add: Any) -> None:
    with ThreadPool(2) as pool:
        pool.map(add, [0, 1], chunksize=1)


def to_thread(add: Any) -> None:
    async def main() -> None:
        await asyncio.gather(asyncio.to_thread(add), asyncio.to_thread(add))

    asyncio.run(main())


CLASS = "BaseEventLoop." if sys.version_info >= (3, 11) else ""  # code has no qualified name before
STARTS = f"block:asyncio.base_events.{CLASS}run_in_executor"
CASES = [
    (pooled, [at("T0.1", "marker:between", "T0.2")]),
    (to_thread, [at("T0.1", "marker:between", "T0"), at("T0", STARTS, "T0.2", 2)]),  # which starts the second thread
]


@pytest.mark.parametrize(("body", "directives"), CASES)
def test_a_lost_update(inline: Inline, body: Any, directives: Any) -> None:
    lost = [inline.run([lambda c: (body(c.add), c.value)[1]], *directives, make=Counter) for _ in range(6)]
    assert [report.results for report in lost] == [[1]] * 6
    assert len({report.digest for report in lost[1:]}) == 1  # the first one imports
    assert not lost[0].uncontrolled
    held = inline.run([lambda c: (body(c.add_locked), c.value)[1]], *directives, make=Counter)
    assert (held.outcome, held.results) == ("ok", [2])


def test_a_loop_in_each_of_two_threads(inline: Inline) -> None:
    async def sleeps() -> float:
        await asyncio.sleep(HOUR)
        return 1.0

    report = inline.run([lambda _: asyncio.run(sleeps())] * 2)
    assert (report.outcome, report.results, report.timed) == ("ok", [1.0, 1.0], True)


def test_a_coroutine_given_to_a_loop_in_another_thread(inline: Inline) -> None:
    async def add(numbers: list[int]) -> int:
        numbers.append(1)
        return len(numbers)

    def asks(shared: Any) -> int:
        shared["loop"].run_forever()
        shared["loop"].close()
        return 0

    def gives(shared: Any) -> int:
        found = asyncio.run_coroutine_threadsafe(add([]), shared["loop"]).result()
        shared["loop"].call_soon_threadsafe(shared["loop"].stop)
        return found

    for first in (0, 1):
        report = inline.run([asks, gives], make=lambda: {"loop": asyncio.new_event_loop()}, first=first)
        assert (report.outcome, report.results) == ("ok", [0, 1])


@pytest.mark.parametrize("first", [0, 1])
def test_a_pipe_between_threads(inline: Inline, first: int) -> None:
    report = inline.run(
        [lambda pipe: os.read(pipe[0], 9).decode(), lambda pipe: os.write(pipe[1], b"ping")], make=os.pipe, first=first
    )
    assert (report.outcome, report.results, report.uncontrolled) == ("ok", ["ping", 4], [])


def by_selector(sock: socket.socket, timeout: float | None, kind: Any = selectors.DefaultSelector) -> int:
    with kind() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return len(selector.select(timeout))


WAYS = [
    by_selector,
    lambda sock, timeout: by_selector(sock, timeout, selectors.SelectSelector),
    lambda sock, timeout: by_selector(sock, timeout, selectors.PollSelector),
    lambda sock, timeout: len(select.select([sock], [], [], timeout)[0]),
]


@pytest.mark.parametrize("way", WAYS)
def test_selectors(inline: Inline, way: Any) -> None:
    report = inline.run([lambda pair: way(pair[0], None), lambda pair: pair[1].send(b"x")], make=socket.socketpair)
    assert report.results == [1, 1]
    assert inline.run([lambda pair: way(pair[0], HOUR)], make=socket.socketpair).results == [0]


def test_ready_where_it_was_written_and_not_before(inline: Inline) -> None:
    """The thread that waits can be given the baton at the first point after the write."""
    order: list[str] = []

    def waits(pipe: Any) -> None:
        os.read(pipe[0], 1)
        order.append("read")

    def writes(pipe: Any) -> None:
        marker("before")
        os.write(pipe[1], b"x")
        marker("after")
        order.append("goes on")

    report = inline.run([waits, writes], at("T1", "marker:before", "T0"), make=os.pipe)
    assert (order, report.void) == (["goes on", "read"], 1)
    order.clear()
    report = inline.run([waits, writes], at("T1", "marker:after", "T0"), make=os.pipe)
    assert (order, report.void) == (["read", "goes on"], 0)


def test_another_process_writes(inline: Inline) -> None:
    def reads(pipe: Any) -> int:
        if (pid := os.fork()) == 0:
            os.write(pipe[1], b"child")
            os._exit(0)
        found = os.read(pipe[0], 9)
        os.waitpid(pid, 0)
        return len(found)

    assert inline.run([reads, lambda _: 0], make=os.pipe).results == [5, 0]
