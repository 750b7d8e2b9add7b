"""A thread that blocks where the controller cannot see is recognised by its state, and the others go on."""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from typing import Any

import pytest
from support.inline import Inline, at

from harness import marker
from harness.control import active, raw
from harness.control.blocked import in_c
from harness.control.blocked.look import look
from harness.control.managed import Status

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="told from /proc")


def test_the_others_go_on(inline: Inline) -> None:
    order: list[str] = []

    def holds(lock: Any) -> None:
        lock.acquire()
        marker("holds")
        order.append("works")
        lock.release()

    def waits(lock: Any) -> None:
        lock.acquire()
        order.append("got it")
        marker("came_back")

    report = inline.run([holds, waits], at("T0", "marker:holds", "T1"), make=raw.allocate_lock)
    assert report.outcome == "ok"
    assert order == ["works", "got it"]
    assert len(report.uncontrolled) == 1
    assert report.uncontrolled[0].startswith(f"T1 blocked in C at {__file__}:")
    assert "waits" in report.uncontrolled[0]


def test_a_lock_in_c_that_nobody_gives_is_a_deadlock(inline: Inline) -> None:
    gate = raw.allocate_lock()

    def never(lock: Any) -> None:
        lock.acquire()
        lock.acquire()

    report = inline.run([never, lambda _: 1], make=lambda: gate)
    assert report.outcome == "deadlock"
    assert "T0 waits for" in report.message
    assert report.results == [None, 1]
    assert report.findings[0].stack
    gate.release()  # so that its thread ends


def test_two_threads_wait_in_c_for_each_other(inline: Inline) -> None:
    a, b = raw.allocate_lock(), raw.allocate_lock()

    def one(_: None) -> None:
        with a:
            marker("holds")
            with b:
                pass

    def two(_: None) -> None:
        with b, a:
            pass

    report = inline.run([one, two], at("T0", "marker:holds", "T1"))
    assert report.outcome == "deadlock"
    assert {line.partition(":")[0] for line in report.findings[0].stack} == {"T0", "T1"}
    a.release()
    b.release()


def test_a_busy_thread_is_not_blocked(inline: Inline) -> None:
    def busy(_: None) -> int:
        return sum(range(3_000_000))

    report = inline.run([busy, busy])
    assert report.outcome == "ok"
    assert report.uncontrolled == []


def test_a_thread_that_waits_in_a_read_is_left_alone(inline: Inline) -> None:
    """It sleeps, but on no lock: input will come from outside."""
    read, write = os.pipe()

    def body(_: None) -> str:
        ctypes.CDLL(None).usleep(200_000)
        os.write(write, b"x")
        return os.read(read, 1).decode()

    report = inline.run([body, lambda _: 1])
    assert report.results == ["x", 1]
    assert report.uncontrolled == []
    os.close(read)
    os.close(write)


def test_a_thread_that_is_just_being_given_the_baton_is_not_blocked(inline: Inline) -> None:
    """The giver says who goes on, then opens that one's gate; in between it may have to wait for a processor."""

    def gives(_: None) -> list[Any]:
        me = active.managed()
        assert me is not None
        control, looks = me.controller, in_c.Looks()
        to = control.threads[1]
        while in_c._asleep(to.native_id) is None:
            pass
        control.current = to
        try:
            look(control, looks)
            look(control, looks)
            return [control.current is to, to.status.name]
        finally:
            control.current, to.status = me, Status.READY

    def parked(_: None) -> None:
        marker("here")

    report = inline.run([gives, parked], at("T1", "marker:here", "T0"), first=1)
    assert report.results == [[True, "READY"], None]
    assert report.uncontrolled == []


def test_what_a_thread_that_computes_is_about_to_do_is_waited_for(inline: Inline) -> None:
    """It is under no control, holds no GIL, and gives the lock back when it is done."""

    def computes(lock: Any) -> None:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 600_000)
        lock.release()

    def waits(_: None) -> None:
        lock = raw.allocate_lock()
        lock.acquire()
        raw.start_new_thread(computes, (lock,))
        lock.acquire()

    report = inline.run([waits, lambda _: None])
    assert (report.outcome, report.uncontrolled) == ("ok", [])
