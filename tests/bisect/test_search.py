"""Which release is tested next, and what follows from the tested ones."""

from __future__ import annotations

import math

import pytest

from harness.bisect import Step, conclude, next_release
from harness.errors import UserError

ALL = tuple(f"9.{minor}.0" for minor in range(11))


def bisect(first_new, old="present", new="absent", skipped=(), at_hand=frozenset(), releases=ALL):
    """(what was tested, in order; the steps)"""
    steps = {}
    while (release := next_release(releases, steps, at_hand)) is not None:
        assert release not in steps
        result = "skip" if release in skipped else new if releases.index(release) >= first_new else old
        steps[release] = Step(release, result, "")
    return list(steps), steps


@pytest.mark.parametrize(("old", "new", "kind"), [("present", "absent", "fixed"), ("absent", "present", "appeared")])
@pytest.mark.parametrize("first_new", range(1, 11))
def test_the_boundary_is_found_in_few_steps(first_new, old, new, kind):
    order, steps = bisect(first_new, old, new)
    found = conclude(ALL, steps)
    assert (found.kind, found.last_old.torch, found.first_new.torch) == (kind, ALL[first_new - 1], ALL[first_new])
    assert found.between == ()
    assert order[:2] == [ALL[0], ALL[-1]]
    assert len(order) <= 2 + math.ceil(math.log2(10)) == 6


def test_neighbours_need_no_more_than_the_ends():
    assert bisect(1, releases=ALL[:2])[0] == list(ALL[:2])


def test_equal_ends_are_refused_before_anything_else_is_tested():
    with pytest.raises(UserError, match=r"both ends are equal: the failure is there on torch 9\.0\.0 and on 9\.10\.0"):
        bisect(11)
    with pytest.raises(UserError, match="is not there on"):
        bisect(11, old="absent")


def test_what_cannot_be_tested_is_gone_around():
    found = conclude(ALL, bisect(6, skipped={"9.5.0", "9.7.0"})[1])
    assert (found.last_old.torch, found.first_new.torch) == ("9.4.0", "9.6.0")
    assert [step.torch for step in found.between] == ["9.5.0"]


def test_where_all_that_is_left_is_skipped_the_answer_is_a_range():
    found = conclude(ALL, bisect(6, skipped={"9.4.0", "9.5.0", "9.6.0"})[1])
    assert (found.last_old.torch, found.first_new.torch) == ("9.3.0", "9.7.0")
    assert [step.torch for step in found.between] == ["9.4.0", "9.5.0", "9.6.0"]


def test_an_end_that_says_nothing_ends_it():
    assert bisect(6, skipped={"9.0.0"})[0] == ["9.0.0", "9.10.0"]


def test_one_at_hand_in_the_middle_half_is_taken_first():
    order, _ = bisect(6, at_hand={"9.1.0", "9.4.0"})
    assert order[2] == "9.4.0"
    order, _ = bisect(6, at_hand={"9.1.0"})  # too near the end to be worth it
    assert order[2] == "9.5.0"


def test_steps_that_contradict_each_other():
    steps = {r: Step(r, result, "") for r, result in zip(ALL, ["present", "absent", "present"], strict=False)}
    steps[ALL[-1]] = Step(ALL[-1], "absent", "")
    with pytest.raises(UserError, match=r"torch 9\.2\.0 is like the old end and 9\.1\.0, before it, like the new one"):
        next_release(ALL, steps)
