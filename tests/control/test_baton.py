"""The default rule, directives at markers, void hand-overs, and collections only by directive."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from support.inline import Inline, at, points

from harness import marker, thread_index


class Cycle:
    def __init__(self) -> None:
        self.me = self


def test_the_default_rule(inline: Inline) -> None:
    order: list[int] = []

    def body(_: None) -> None:
        for _ in range(2):
            order.append(thread_index())
            marker("step")

    assert inline.run([body] * 3).digest != inline.run([body] * 3, first=2).digest
    assert order == [0, 0, 1, 1, 2, 2, 2, 2, 0, 0, 1, 1]


def test_a_directive_acts_at_its_passing_only(inline: Inline) -> None:
    order: list[int] = []

    def body(_: None) -> None:
        for _ in range(3):
            order.append(thread_index())
            marker("step")

    report = inline.run([body, body], at("T0", "marker:step", "T1", n=2))
    assert order == [0, 0, 1, 1, 1, 0]
    assert [str(switch) for switch, _, _ in report.switches] == [
        "T0 after marker:step (passing 2): hand over to T1"
    ]
    assert report.void == 0


@pytest.mark.parametrize("target", ["T0", "T7", "T1.1"])
def test_a_hand_over_to_oneself_or_to_nobody_is_void(inline: Inline, target: str) -> None:
    report = inline.run([lambda _: marker("a"), lambda _: None], at("T0", "marker:a", target))
    assert (report.void, report.switches) == (1, [])


def test_a_hand_over_to_a_thread_that_has_ended_is_void(inline: Inline) -> None:
    report = inline.run([lambda _: marker("a"), lambda _: None], at("T0", "marker:a", "T1"), first=1)
    assert report.void == 1


def test_a_point_that_never_comes_is_told(inline: Inline) -> None:
    directive = at("T0", "marker:a", "T1", n=2)
    report = inline.run([lambda _: marker("a"), lambda _: None], directive)
    assert report.outcome == "not aligned"
    assert report.unused == [directive]
    assert not report.failed


def test_who_goes_on_after_an_end_can_be_said(inline: Inline) -> None:
    order: list[int] = []
    report = inline.run([lambda _: order.append(thread_index())] * 3, at("T0", "end", "T2"))
    assert order == [0, 2, 1]
    assert [(forced, str(d)) for d, forced, _ in report.switches] == [(True, "T0 after end: hand over to T2")]


def test_collection_only_by_directive(inline: Inline) -> None:
    def body(_: None) -> list[bool]:
        alive = weakref.ref(Cycle())
        for _ in range(3000):
            garbage: list[Any] = [[]]
            garbage.append(garbage)
        found = []
        for _ in range(3):
            marker("step")
            found.append(alive() is not None)
        return found

    assert inline.run([body]).results == [[True, True, True]]
    assert inline.run([body], at("T0", "marker:step", 2, n=2)).results == [[True, False, False]]
    assert gc.isenabled()


def test_a_younger_generation_leaves_the_old(inline: Inline) -> None:
    def body(_: None) -> bool:
        alive = weakref.ref(Cycle())
        marker("old")
        marker("step")
        return alive() is not None

    grow = (at("T0", "marker:old", 0),)
    planted = inline.run([body], *grow)
    assert planted.results == [False]


def test_a_finalizer_runs_under_control(inline: Inline) -> None:
    order: list[str] = []

    class Loud(Cycle):
        def __del__(self) -> None:
            order.append("del")
            marker("finalizer")
            order.append("del ends")

    def body(_: None) -> None:
        Loud()
        marker("step")
        order.append("body")

    report = inline.run(
        [body, lambda _: order.append("other")],
        at("T0", "marker:step", 2),
        at("T0", "marker:finalizer", "T1"),
    )
    assert order == ["del", "other", "del ends", "body"]
    assert points(report, "T0")[:2] == ["marker:step", "marker:finalizer"]


def test_markers_do_nothing_outside_a_run(inline: Inline) -> None:
    marker("anything")
    assert thread_index() == -1


def test_same_schedule_same_digest(inline: Inline) -> None:
    def body(_: None) -> None:
        for step in "abc":
            marker(step)

    directive = at("T0", "marker:b", "T1")
    assert len({inline.run([body] * 3, directive).digest for _ in range(50)}) == 1


def test_errors_of_bodies_do_not_stop_the_others(inline: Inline) -> None:
    def fails(_: None) -> None:
        raise LookupError("here")

    report = inline.run([fails, lambda _: 1])
    assert report.results == [None, 1]
    assert report.message == "LookupError: here"
    assert report.findings[0].thread == "T0"


def test_a_wrong_value_is_found_after_all_ended(inline: Inline) -> None:
    def check(shared: list[int], results: list[Any]) -> None:
        assert shared == [0, 1], "order"

    def body(shared: list[int]) -> None:
        shared.append(thread_index())

    assert inline.run([body, body], make=list, check=check).outcome == "ok"
    assert inline.run([body, body], make=list, check=check, first=1).outcome == "wrong value"
