"""The search alone, over made-up programs: what it finds, and in how many runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import ceil, log2
from random import Random

import pytest

from harness.order.search import boundary, needed_order, shortest

Fails = Callable[[Sequence[int]], bool]


class Counted:
    def __init__(self, fails: Fails) -> None:
        self.fails = fails
        self.asked: list[tuple[int, ...]] = []

    def __call__(self, lists: Sequence[tuple[int, ...]]) -> list[bool]:
        self.asked += [each for each in lists if each not in self.asked]  # the log answers the second time
        return [self.fails(each) for each in lists]


def in_order(culprits: Sequence[int]) -> Fails:
    def fails(before: Sequence[int]) -> bool:
        places = [list(before).index(c) for c in culprits if c in before]
        return len(places) == len(culprits) and places == sorted(places)

    return fails


@pytest.mark.parametrize("ways", [1, 2, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 17, 199])
def test_one_culprit_anywhere(n: int, ways: int) -> None:
    for culprit in range(n):
        ask = Counted(lambda before, c=culprit: c in before)
        assert shortest(range(n), ask, ways) == (culprit,)
        assert len(ask.asked) <= 2 * log2(n) + 1
        if ways == 1:
            assert len(ask.asked) <= ceil(log2(n)) + 1


def test_pairs_and_ordered_pairs_of_200() -> None:
    random = Random(7)
    for _ in range(200):
        a, b = sorted(random.sample(range(199), 2))
        for fails, ordered in ((lambda before, a=a, b=b: {a, b} <= set(before), []), (in_order((a, b)), [(a, b)])):
            ask = Counted(fails)
            assert shortest(range(199), ask, 1) == (a, b)
            assert needed_order((a, b), ask) == ordered
            assert len(ask.asked) <= 2 * ceil(log2(199)) + 2 + 2  # each alone, and exchanged


def test_many_culprits_are_no_more_than_a_few_runs_each() -> None:
    needed = set(range(60, 100))
    ask = Counted(lambda before: needed <= set(before))
    assert shortest(range(199), ask, 1) == tuple(sorted(needed))
    assert len(ask.asked) <= 4 * len(needed)


def test_none_can_be_left_out_whatever_the_program() -> None:
    """Also where one test mends what another spoiled: there a longer list may pass where a shorter one fails."""
    random = Random(3)
    for _ in range(400):
        n = random.randrange(1, 8)
        failing = {c for size in range(1, n + 1) for c in combinations(range(n), size) if random.random() < 0.4}
        failing.add(tuple(range(n)))
        for ways in (1, 3):
            ask = Counted(lambda before, failing=failing: tuple(before) in failing)
            found = shortest(range(n), ask, ways)
            assert found in failing
            assert found in ask.asked or found == tuple(range(n))
            assert not any(found[:i] + found[i + 1 :] in failing for i in range(len(found)) if len(found) > 1)


def test_a_test_that_mends_is_not_in_the_list() -> None:
    def fails(before: Sequence[int]) -> bool:  # 20 spoils, 60 mends, 90 spoils again
        spoiled = False
        for test in before:
            spoiled = test in (20, 90) or (spoiled and test != 60)
        return spoiled

    assert shortest(range(199), Counted(fails), 1) == (90,)
    assert shortest(range(80), Counted(lambda before: fails([t for t in before if t != 60])), 1) == (20,)


def test_order_of_three_and_of_four() -> None:
    assert needed_order((1, 2, 3), Counted(lambda before: list(before).index(1) < list(before).index(3))) == [(1, 3)]
    assert needed_order((1, 2, 3), Counted(lambda before: True)) == []
    assert needed_order((1, 2, 3, 4), Counted(in_order((1, 2, 3, 4)))) == [(1, 2), (2, 3), (3, 4)]
    assert needed_order((5,), Counted(lambda before: True)) == []


def test_boundary_rests_on_neighbours_that_were_asked() -> None:
    random = Random(1)
    for _ in range(300):
        n = random.randrange(1, 40)
        answers = [True, *(random.random() < 0.5 for _ in range(n - 1)), False]
        at = boundary(0, n, lambda points, answers=answers: [answers[p] for p in points], random.randrange(1, 6))
        assert answers[at]
        assert not answers[at + 1]
