"""What a back-end must do, on every Python: the same points in the same order, and only real places."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import pytest

from harness.control import backends
from harness.control.actions import Decider, HandOver
from harness.control.controller import Controller
from harness.control.instrument import Instruments
from harness.control.managed import Managed
from harness.control.sparse import Sparse
from harness.run.pool import WorkerPool
from harness.schedule.schedule import Directive
from harness.states.scan import file_module, scan

_names = itertools.count()
Make = Callable[..., "World"]


class World:
    """A module made of source text, scanned and instrumented."""

    def __init__(self, source: str, fine: bool, free: bool, pool: WorkerPool) -> None:
        self.name = f"backend_case_{next(_names)}"
        self.module: Any = types.ModuleType(self.name)
        sys.modules[self.name] = self.module
        code = compile(dedent(source), f"{self.name}.py", "exec")
        file_module(self.module, code)
        exec(code, vars(self.module))
        table = scan([self.name], [self.module] if fine else [])
        self.free = free
        self.pool = pool
        self.backend = backends.make(Instruments(table, free=free))

    def run(self, *bodies: str, at: str = "", n: int = 1, observer: Any = None) -> Controller:
        """Run functions of the module as threads; ``at``: T0 hands over to T1 after this point."""
        directives = (Directive("T0", at.replace("M.", self.name + "."), n, HandOver("T1")),) if at else ()
        decider: Decider = Sparse(directives)
        control = Controller(decider, free=self.free, backend=self.backend, observer=observer)
        control.run([getattr(self.module, body) for body in bodies], 0, self.pool.start)
        return control

    def points(self, control: Controller, thread: int = 0) -> list[str]:
        return [key.replace(self.name + ".", "M.") for index, key, _ in control.log if index == thread]


@pytest.fixture
def world() -> Iterator[Make]:
    pool = WorkerPool()
    made: list[World] = []

    def make(source: str, *, fine: bool = False, free: bool = False) -> World:
        made.append(World(source, fine, free, pool))
        return made[-1]

    yield make
    for item in made:
        del sys.modules[item.name]
    pool.close()


STATE = """
    flag = 0
    seen = []
    def write(value):
        global flag
        flag = value
    def other():
        seen.append(flag)
"""


def test_accesses_in_order_and_counted(world: Make) -> None:
    w = world("""
        flag = 0
        def body():
            global flag
            flag = 1
            x = flag
            flag = x + 1
            return flag
    """)
    control = w.run("body")
    assert w.points(control) == ["write:M.flag", "read:M.flag", "write:M.flag", "read:M.flag"]
    assert control.threads[0].counts[f"write:{w.name}.flag"] == 2
    assert control.threads[0].result == 2


def test_a_write_is_reported_when_it_has_happened(world: Make) -> None:
    w = world(STATE)
    values: list[Any] = []

    def observer(me: Managed, points: tuple[str, ...], frame: Any) -> None:
        values.append((points[0].partition(":")[0], w.module.flag))

    w.module.body = lambda: w.module.write(7)
    w.run("body", observer=observer)
    assert values == [("write", 7)]


def test_no_place_between_plain_instructions(world: Make) -> None:
    w = world("""
        flag = 0
        seen = []
        def body():
            global flag
            flag = 1
            flag = 2
            flag = 3
        def other():
            seen.append(flag)
    """)
    control = w.run("body", "other", at="write:M.flag")
    assert w.module.seen == [3]
    assert not control.switches
    assert len(control.void) == 1, "asked for, and void at the next access of the same state"


def test_free_mode_hands_over_at_once(world: Make) -> None:
    w = world("""
        flag = 0
        seen = []
        def body():
            global flag
            flag = 1
            flag = 2
        def other():
            seen.append(flag)
    """, free=True)  # fmt: skip
    w.run("body", "other", at="write:M.flag")
    assert w.module.seen == [1]


PLACE = """
    flag = 0
    log = []
    def callee():
        log.append("callee")
    def other():
        log.append("other")
    def gen():
        yield 1
        yield 2
    class Thing:
        def __init__(self):
            log.append("init")
    def body():
        global flag
        flag = 1
        {then}
        log.append("end")
"""


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("log.append('c')", ["c", "other", "end"]),
        ("len(log); log.append('c')", ["other", "c", "end"]),
        ("callee()", ["other", "callee", "end"]),
        ("Thing()", ["other", "init", "end"]),
        ("x = 1; y = [x, x + 1]; y[0] = 2; del x", ["end", "other"]),
        ("for i in (1, 2): log += [i]", ["J1", "other", "J2", "end"]),
        ("x = 1 if flag else 2", ["end", "other"]),
    ],
)
def test_the_first_place_behind_an_access(world: Make, then: str, expected: list[str]) -> None:
    then = then.replace("log += [i]", "log[len.__class__ is None:] += [f'J{i}'] if i else []")
    if "J{" in then:  # a loop without a call in it
        then = "for i in ('J1', 'J2'): log[9:] = [i]"
    w = world(PLACE.format(then=then))
    w.run("body", "other", at="write:M.flag")
    assert w.module.log == expected


def test_making_a_generator_is_no_place(world: Make) -> None:
    if sys.version_info < (3, 12):
        pytest.skip("settrace cannot tell a call that makes a generator from one into C")
    w = world(PLACE.format(then="g = gen(); log[9:] = ['made']"))
    w.run("body", "other", at="write:M.flag")
    assert w.module.log == ["made", "end", "other"]


def test_return_of_a_python_function_is_no_place(world: Make) -> None:
    w = world("""
        flag = 0
        log = []
        def callee():
            global flag
            flag = 1
        def other():
            log.append("other")
        def body():
            callee()
            log[9:] = ["returned"]
            log.append("end")
    """)
    w.run("body", "other", at="write:M.flag")
    assert w.module.log == ["returned", "end", "other"]


def test_the_next_place_may_be_in_a_caller_without_sites(world: Make) -> None:
    w = world(STATE)
    log: list[str] = []

    def body() -> None:
        outer()
        log.append("end")

    def outer() -> None:
        w.module.write(1)
        log[9:] = ["outer"]

    w.module.body = body
    w.module.other = lambda: log.append("other")
    for _ in range(3):  # events come and go
        log.clear()
        w.run("body", "other", at="write:M.flag")
        if sys.version_info >= (3, 12):
            assert log == ["outer", "end", "other"]
        assert sorted(log) == ["end", "other", "outer"]


def test_fine_code_has_a_point_behind_calls_into_c(world: Make) -> None:
    w = world("""
        def callee():
            return 1
        def body():
            x = callee()
            y = abs(x)
            return y
    """, fine=True)  # fmt: skip
    assert w.points(w.run("body")) == ["call:M.body", "call:M.callee", "line:M.body+2"]


def test_backward_jumps(world: Make) -> None:
    w = world("""
        def body():
            for i in (1, 2, 3):
                j = i
    """, fine=True)  # fmt: skip
    points = w.points(w.run("body"))
    assert points[0] == "call:M.body"
    assert len(points) == 4
    assert all(point.startswith("line:M.body+") for point in points[1:])


def test_a_generator_starts_at_every_resumption(world: Make) -> None:
    w = world("""
        flag = 0
        def gen():
            global flag
            flag = 1
            yield 1
            flag = 2
            yield 2
        def body():
            return [x for x in gen()]
    """, fine=True)  # fmt: skip
    points = [p for p in w.points(w.run("body")) if "gen" in p or "flag" in p]
    assert points == ["call:M.gen", "write:M.flag", "call:M.gen", "write:M.flag", "call:M.gen"]


def test_an_access_that_raises_is_not_reported(world: Make) -> None:
    w = world("""
        flag = 0
        def drop():
            global flag
            del flag
        def body():
            try:
                x = flag
            except NameError:
                x = 5
            return x
        def twice():
            drop()
            return body()
    """)
    control = w.run("twice")
    assert control.threads[0].result == 5
    assert w.points(control) == ["write:M.flag"]


def test_nested_code_with_sites_between_arming_and_report(world: Make) -> None:
    w = world("""
        flag = 0
        def note():
            global flag
            flag = flag + 1
        class Loud:
            def __del__(self):
                note()
        holder = None
        def body(depth):
            global holder
            holder = Loud()
            holder = None
            if depth:
                body(depth - 1)
        def start():
            body(1)
    """)
    control = w.run("start")
    once = ["write:M.holder", "read:M.flag", "write:M.flag", "write:M.holder"]
    assert w.points(control) == once * 2


def test_an_exception_from_nested_code_drops_what_it_armed(world: Make) -> None:
    w = world("""
        flag = 0
        def fails(depth):
            if depth:
                fails(depth - 1)
            return flag.missing
        def body():
            for _ in (1, 2):
                try:
                    fails(3)
                except AttributeError:
                    pass
            return write()
        def write():
            global flag
            flag = 2
    """)
    assert w.points(w.run("body")) == ["read:M.flag", "read:M.flag", "write:M.flag"]


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


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is of 3.12")
def test_a_tool_id_that_is_taken_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.control.backends import tool

    monkeypatch.setattr(tool.MONITORING, "get_tool", lambda number: "debugger")
    with pytest.raises(RuntimeError, match="4 by debugger"):
        tool._free()
