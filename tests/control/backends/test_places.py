"""The first place behind an access, and what is none."""

from __future__ import annotations

import sys

import pytest
from support.backend import PLACE, STATE, Make


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


@pytest.mark.parametrize(
    "made",
    ["gen()", "(i for i in log)", "THING.method()", "THING.method.__func__(THING)", "local()"],
)
def test_making_a_generator_is_no_place(world: Make, made: str, request: pytest.FixtureRequest) -> None:
    source = PLACE.format(then=f"g = {made}; log[9:] = ['made']").replace(
        "    def body():\n",
        "        def method(self):\n            yield 1\n    THING = object.__new__(Thing)\n    def body(local=gen):\n",
    )
    w = world(source)
    if "__func__" in made and sys.version_info < (3, 12):
        known = "before 3.12 an attribute of a method is not followed: a place is seen that is none"
        request.applymarker(pytest.mark.xfail(reason=known, strict=True))
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
