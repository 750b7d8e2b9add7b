"""Threads outside a run, of other worlds, left over, and used again."""

from __future__ import annotations

from support.backend import PLACE, STATE, Make

from harness.control.actions import HandOver
from harness.control.controller import Controller
from harness.control.sparse import Sparse
from harness.schedule.schedule import Directive


def test_an_abandoned_thread_unwinds(world: Make) -> None:
    w = world("""
        import threading
        flag = 0
        ended = []
        def body():
            try:
                write()
                len(ended)
            finally:
                ended[9:] = ["body"]
        def write():
            global flag
            flag = 1
        def other():
            return 1
    """)
    directive = Directive("T0", f"write:{w.name}.flag", 1, HandOver("T1"))
    control = Controller(Sparse((directive,)), backend=w.backend)
    control._end = lambda me: control._finish()  # type: ignore[method-assign]  # T0 stays parked
    control.run([w.module.body, w.module.other], 0, w.pool.start)
    control.abandon()
    assert w.pool.wait(10)
    assert w.module.ended == ["body"]
    assert control.threads[0].error is None


def test_threads_outside_a_run_have_no_points(world: Make) -> None:
    w = world(STATE)
    w.module.body = lambda: None
    w.module.write(1)
    control = w.run("body")
    w.module.write(2)
    assert w.points(control) == []


def test_two_worlds_by_turns(world: Make) -> None:
    first, second = world(STATE), world(STATE)
    for w in (first, second):
        w.module.body = lambda w=w: w.module.write(1)
    for w in (first, second, first, second):
        assert w.points(w.run("body")) == ["write:M.flag"]


def test_many_runs_with_pooled_threads_are_the_same(world: Make) -> None:
    w = world(PLACE.format(then="callee()"), fine=True)
    logs = set()
    for _ in range(500):
        w.module.log.clear()
        control = w.run("body", "other", at="write:M.flag")
        logs.add(tuple((index, key) for index, key, _ in control.log))
        assert w.module.log == ["other", "callee", "end"]
    assert len(logs) == 1
