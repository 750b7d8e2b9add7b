"""A thread that C code started is under control while it runs Python."""

from __future__ import annotations

import ctypes
from typing import Any

from support.inline import Inline, at

from harness import marker, thread_index
from harness.control import raw
from harness.control.adopt import adopted


def in_another_thread(function: Any) -> None:
    """Run it in a thread that nothing was told of, and wait for it in C."""
    libc = ctypes.CDLL(None)
    kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    start = kind(lambda _: function())
    thread = ctypes.c_ulong()
    assert libc.pthread_create(ctypes.byref(thread), None, start, None) == 0
    libc.pthread_join(thread, None)


def test_it_takes_the_baton_over_and_gives_it_back(inline: Inline) -> None:
    log: list[Any] = []

    def inner() -> None:
        with adopted():
            log.append(("inner", thread_index()))
            marker("inner")
            log.append("inner again")

    def outer(_: None) -> None:
        in_another_thread(inner)
        log.append("outer")
        marker("outer")

    def other(_: None) -> None:
        log.append("other")

    report = inline.run([outer, other], at("T0.1", "marker:inner", "T1"))
    assert report.outcome == "ok"
    assert log == [("inner", 0), "other", "inner again", "outer"]
    assert report.uncontrolled == []


def test_a_lock_of_the_thread_that_waits_is_a_deadlock(inline: Inline) -> None:
    import threading

    def outer(lock: Any) -> None:
        def inner() -> None:
            with adopted(), lock:
                pass

        with lock:
            in_another_thread(inner)

    report = inline.run([outer], make=threading.RLock)
    assert report.outcome == "deadlock"
    assert "T0.1 waits for the lock" in report.message
    assert "T0 waits for the end of T0.1" in report.message


def test_nothing_outside_a_run() -> None:
    with adopted():
        assert raw.get_ident()
