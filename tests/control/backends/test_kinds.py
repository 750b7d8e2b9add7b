"""The kinds of points in one module: which points, in which order, and where a hand-over happens."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from support.backend import Make

TABLE = """
    TABLE = {}
    class Box:
        def __init__(self):
            self.items = []
    BOX = Box()
"""


def state_points(world: Make, body: str, *points: str) -> list[str]:
    w = world(TABLE + f"    def body():\n        {body}\n", fine=True, points=points)
    return [p for p in w.points(w.run("body")) if p.partition(":")[0] in ("read", "write")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("TABLE['a'] = 1", ["write"]),
        ("TABLE['a'] = 1; del TABLE['a']", ["write", "write"]),
        ("TABLE.update(a=1)", ["write"]),
        ("TABLE.setdefault('a', []).append(1)", ["write"]),
        ("return 'a' in TABLE", ["read"]),
        ("return TABLE.get('a')", ["read"]),
        ("return len(TABLE)", ["read"]),
        ("t = TABLE; t['a'] = 1", ["write"]),
        ("return [k for k in TABLE.items()]", ["read"]),
        ("return TABLE", ["read"]),
    ],
)
def test_what_is_done_with_a_container_outranks_the_read_of_its_name(
    world: Make, body: str, expected: list[str]
) -> None:
    change = "    def changed():\n        TABLE.clear()\n"
    w = world(TABLE + change + f"    def body():\n        {body}\n", points=["containers"])
    got = w.points(w.run("body"))
    assert got[: len(expected)] == [f"{kind}:M.TABLE" for kind in expected]
    assert set(got) <= {"read:M.TABLE", "write:M.TABLE"}
    assert sum(p.startswith("write") for p in got) == expected.count("write")


def test_attributes_and_what_they_hold(world: Make) -> None:
    got = state_points(world, "box = BOX; box.items.append(1); box.items = []; return box.items", "objects")
    assert got == ["write:M.Box:items", "write:M.Box:items", "read:M.Box:items"]


def test_a_change_by_a_call_is_a_point_before_its_place(world: Make) -> None:
    w = world("""
        LOG, FLAGS = [], {}
        def body():
            FLAGS.update(a=1)
            LOG[9:] = ["body"]
        def other():
            LOG.append("other")
    """, points=["containers"])  # fmt: skip
    w.run("body", "other", at="write:M.FLAGS")
    assert w.module.LOG == ["other", "body"]


def test_an_operator_that_starts_a_function_is_a_place(world: Make) -> None:
    w = world("""
        from fractions import Fraction
        LOG, ONE, HALF = [], 1, Fraction(1, 2)
        def body():
            HALF + HALF
            LOG[9:] = ["body"]
        def plain():
            ONE + ONE
            LOG[9:] = ["body"]
        def other():
            LOG[9:] += ["other"]
    """, fine=True, points=["operators"])  # fmt: skip
    for _ in range(2):  # the second time the library's code is known, and has no events
        w.module.LOG.clear()
        w.run("body", "other", at="op:M.body+1", n=1)
        assert w.module.LOG == ["other", "body"]
    w.module.LOG.clear()
    w.run("plain", "other", at="op:M.plain+1")
    assert w.module.LOG == ["body", "other"]


@pytest.mark.parametrize(("operand", "given_up"), [("FILE", True), ("[b'x']", False)])
def test_where_c_gives_up_the_gil_there_is_a_place(world: Make, operand: str, given_up: bool) -> None:
    source = """
        FLAG, LOG, FILE = 0, [], open(__file__, "rb")
        def body():
            global FLAG
            FLAG = 1
            b"x" in OPERAND
            LOG[9:] = ["body"]
        def other():
            LOG[9:] += ["other"]
    """.replace("OPERAND", operand).replace("__file__", repr(__file__))
    w = world(source, fine=True, points=["names", "releases"])
    w.run("body", "other", at="write:M.FLAG")
    w.module.FILE.close()
    assert (["other", "body"] if given_up else ["body", "other"]) == w.module.LOG


@pytest.mark.parametrize("read", [lambda reader: b"x" in reader, lambda reader: next(iter(reader))], ids=["in", "next"])
def test_the_table_of_what_gives_up_the_gil_is_true(read: Callable[[Any], Any]) -> None:
    """A search in a pipe ends only if another thread can write into it meanwhile."""
    out, into = os.pipe()
    with open(out, "rb") as reader:
        waiting = threading.Event()

        def write() -> None:
            waiting.wait()
            os.write(into, b"x\n")
            os.close(into)

        writer = threading.Thread(target=write)
        writer.start()
        waiting.set()
        read(reader)
        writer.join()


def test_entries_of_chosen_modules(world: Make) -> None:
    import posixpath

    w = world("""
        import posixpath
        def body():
            return posixpath.join("a", "b")
    """, points=["entries"], entries=[posixpath.__name__])  # fmt: skip
    assert "call:posixpath.join" in w.points(w.run("body"))
