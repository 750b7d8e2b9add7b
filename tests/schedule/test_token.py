"""A schedule as a token: back to the same schedule, and nothing else is a token."""

from __future__ import annotations

import hashlib
import re
import shlex

import pytest
from hypothesis import given, settings
from support.schedules import EXAMPLE, schedules

from harness.control.actions import Collect, HandOver
from harness.errors import UserError
from harness.schedule import Directive, Schedule, from_token, to_token


def signed(text: str) -> str:
    """With the checksum that belongs to it, as a forger would do."""
    return f"{text},{hashlib.sha256(text.encode()).hexdigest()[:6]}"


@given(schedules())
@settings(max_examples=150, deadline=None)
def test_there_and_back(schedule: Schedule) -> None:
    token = to_token(schedule)
    assert from_token(token) == schedule
    assert to_token(from_token(f"  {token}\n")) == token


@given(schedules())
@settings(max_examples=100, deadline=None)
def test_is_one_word_on_one_line(schedule: Schedule) -> None:
    token = to_token(schedule)
    assert token.isprintable()
    assert not re.search(r"\s", token)
    assert "'" not in token
    assert '"' not in token


def test_needs_no_quoting_in_a_shell() -> None:
    token = to_token(EXAMPLE)
    assert shlex.split(token) == [token]
    assert not set(token) & set("$`\\\"'!*?[](){}<>|&;~#^ ")


def test_is_short_and_readable() -> None:
    directive = Directive("T0", "write:torch.fx._symbolic_trace._is_fx_tracing_flag", 1, HandOver("T1"))
    token = to_token(Schedule("flag.warm", 2, directives=(directive,)))
    assert token.startswith(
        "race1,flag.warm,threads=2,T0@write:torch.fx._symbolic_trace._is_fx_tracing_flag@1@T1,"
    )
    assert len(token) <= 200


def test_an_edited_token_is_refused() -> None:
    token = to_token(EXAMPLE)
    edited = token.replace("threads=3", "threads=4")
    assert edited != token
    with pytest.raises(UserError, match="checksum"):
        from_token(edited)


def test_every_single_changed_character_is_noticed() -> None:
    token = to_token(EXAMPLE)
    for place, old in enumerate(token):
        for new in ("0", "x"):
            if new != old:
                with pytest.raises(UserError):
                    from_token(token[:place] + new + token[place + 1 :])


@pytest.mark.parametrize("length", range(0, len(to_token(EXAMPLE)), 3))
def test_a_truncated_token_is_refused(length: int) -> None:
    with pytest.raises(UserError, match=r"copied whole|not a token"):
        from_token(to_token(EXAMPLE)[:length])


def test_another_format_version_is_named() -> None:
    text = to_token(EXAMPLE).rpartition(",")[0].replace("race1,", "race7,")
    with pytest.raises(UserError, match=r"race7.*reads race1"):
        from_token(signed(text))


@pytest.mark.parametrize(
    "text",
    [
        "race1",
        "race1,s",
        "race1,s,threads=0",
        "race1,s,threads=100",
        "race1,s,threads=two",
        "race1,s,threads=2,threads=3",
        "race1,s,threads=2,first=2",
        "race1,s,threads=2,first=-1",
        "race1,s,threads=2,mode=fast",
        "race1,s,threads=2,depth=1,depth=2",
        "race1,s,threads=2,depth={",
        "race1,s,threads=2,depth=" + "[" * 3000,
        "race1,s,threads=" + "9" * 5000,
        "race1,s,threads=2,T0@end@1",
        "race1,s,threads=2,T0@end@1@T1@T1",
        "race1,s,threads=2,T0@end@0@T1",
        "race1,s,threads=2,T0@end@one@T1",
        "race1,s,threads=2,X@end@1@T1",
        "race1,s,threads=2,T0@END@1@T1",
        "race1,s,threads=2,T0@end@1@gc3",
        "race1,s,threads=2,T0@end@1@nobody",
        "race1,s,threads=2,T0@end@1@T1,mode=free",
        "race1,s,threads=2,odd",
    ],
)
def test_signed_nonsense_is_refused(text: str) -> None:
    with pytest.raises(UserError) as caught:
        from_token(signed(text))
    assert "malformed token" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "race1,s,threads=+2",
        "race1,s,threads=2,first=0",
        "race1,s,threads=2,mode=gil",
        "race1,s,threads=2,x=%5B1,2%5D",
        "race1,s,threads=2,T0@end@1_0@T1",
        "race1,s,threads=2,x=%20%201",
        "race1,%73,threads=2",
    ],
)
def test_what_to_token_does_not_make_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        from_token(signed(text))


@pytest.mark.parametrize("scenario", ["a\0b.py:x", "\ud800.py:x"])
def test_a_scenario_that_no_file_can_have_is_no_schedule(scenario: str) -> None:
    with pytest.raises(ValueError, match="scenario"):
        Schedule(scenario, 2)


@pytest.mark.parametrize(
    ("thread", "point", "n", "action"),
    [
        ("0", "end", 1, HandOver("T1")),
        ("T0.", "end", 1, HandOver("T1")),
        ("T0", "end@", 1, HandOver("T1")),
        ("T0", "read:a b", 1, HandOver("T1")),
        ("T0", "read:" + "x" * 301, 1, HandOver("T1")),
        ("T0", "end", 0, HandOver("T1")),
        ("T0", "end", 10**9, HandOver("T1")),
        ("T0", "end", 1, HandOver("gc1")),
        ("T0", "end", 1, Collect(3)),
    ],
)
def test_a_directive_checks_its_parts(thread: str, point: str, n: int, action: HandOver | Collect) -> None:
    with pytest.raises(ValueError, match=r"thread name|no point|count from 1|0, 1 or 2"):
        Directive(thread, point, n, action)


def test_a_directive_reads_as_a_sentence() -> None:
    assert str(Directive("T0", "end", 1, HandOver("T1"))) == "T0 after end: hand over to T1"
    assert (
        str(Directive("T0", "line:m.f+1", 3, Collect(2)))
        == "T0 after line:m.f+1 (passing 3): collect generation 2"
    )
