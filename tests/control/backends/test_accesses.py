"""Accesses are reported in order, when they have happened, and not when they failed."""

from __future__ import annotations

from typing import Any

from support.backend import STATE, Make

from harness.control.managed import Managed


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


def test_a_running_function_keeps_its_points_behind_a_collection(world: Make) -> None:
    """A collection sets a profile function, by which Python 3.12 and 3.13 forget what they watch in running code."""
    w = world("""
        from harness.control import collect
        flag = 0
        def body():
            global flag
            flag = 1
            collect.now(0, [])
            return flag
    """)
    for _ in range(2):
        assert w.points(w.run("body")) == ["write:M.flag", "read:M.flag"]
