"""Which failures are the same."""

from __future__ import annotations

import pytest

from harness.order.signature import signature


def of(message: str, kind: str = "AssertionError", where: str = "f", when: str = "call") -> str:
    return signature(kind, message, where, when)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("assert 199 == 0", "assert 1 == 0"),
        ("<A object at 0x7f00beef> is left", "<A object at 0x55aa> is left"),
        ("assert ['a', 'b'] == []", "assert ['a'] == []"),
        ("assert {1: [2, (3,)]} == {}", "assert {7: []} == {}"),
        ("no such file: /tmp/pytest-1/x0/y", "no such file: /tmp/pytest-22/x0/z"),
        ("first line 3\n  more of 4", "first line 5\n  other"),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert of(one) == of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (of("assert ['a'] == []"), of("assert [] == ['a']")),
        (of("x", "KeyError"), of("x", "IndexError")),
        (of("x", where="f"), of("x", where="g")),
        (of("x"), of("x", when="setup")),
        (of("left open"), of("left shut")),
    ],
)
def test_another(one: str, other: str) -> None:
    assert one != other


def test_without_a_message() -> None:
    assert of("", "", "", "teardown").strip() == "in teardown"
    assert of("") == "AssertionError [f]"
