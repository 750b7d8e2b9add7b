"""The shortest list of earlier tests after which a test fails: which of them, and in which order.

A list is known to fail only when it was run. Nothing is assumed about the tests between: one that mends what an earlier one
spoiled is allowed for, since each step rests on one list that fails and one that does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

#: Which of these lists, each put before the test, make it fail? Answered together, so that they can run at the same time.
Ask = Callable[[Sequence[tuple[int, ...]]], list[bool]]
_MOST = 4  # lists asked about at a time: with more, a search makes more runs than it saves time
_FEW = 3  # tests up to which every order of them is run; and from which on the next is expected close by


def boundary(low: int, high: int, probe: Callable[[Sequence[int]], list[bool]], ways: int = 1) -> int:
    """The last known i with ``probe(i)`` true and ``probe(i + 1)`` false, where ``low`` is true and ``high`` is false."""
    while high - low > 1:
        count = min(ways, _MOST, high - low - 1)
        between = sorted({low + (high - low) * (k + 1) // (count + 1) for k in range(count)} - {low, high})
        answers = [True, *probe(between), False]
        points = [low, *between, high]
        last = max(i for i in range(len(points) - 1) if answers[i] and not answers[i + 1])
        low, high = points[last], points[last + 1]
    return low


def shortest(before: Sequence[int], ask: Ask, ways: int = 1) -> tuple[int, ...]:
    """Fewest of ``before``, in their order; none of them can be left out.

    ``before`` must be known to fail, and the empty list not to. For one culprit among n: log2(n) + 1 runs.
    """
    kept: tuple[int, ...] = ()
    rest = tuple(before)
    while True:
        # kept + rest fails, kept alone does not: the last suffix of rest that is enough begins with a test that is needed
        def probe(cuts: Sequence[int], kept: tuple[int, ...] = kept, rest: tuple[int, ...] = rest) -> list[bool]:
            return ask([kept + rest[cut:] for cut in cuts])

        low, high = (0, len(rest)) if len(kept) < _FEW else _close(len(rest), probe)
        at = boundary(low, high, probe, ways)
        kept, rest = (*kept, rest[at]), rest[at + 1 :]
        if not rest or ask([kept])[0]:
            return _none_too_many(kept, ask)


def _close(count: int, probe: Callable[[Sequence[int]], list[bool]]) -> tuple[int, int]:
    """A bracket by steps that double: where many tests are needed, the next is mostly the next one."""
    low, step = 0, 1
    while low + step < count:
        if not probe([low + step])[0]:
            return low, low + step
        low, step = low + step, step * 2
    return low, count


def _none_too_many(kept: tuple[int, ...], ask: Ask) -> tuple[int, ...]:
    """A test that was needed among many may not be among few."""
    while len(kept) > 1:
        fewer = [kept[:i] + kept[i + 1 :] for i in range(len(kept))]
        found = next((each for each, fails in zip(fewer, ask(fewer), strict=True) if fails), None)
        if found is None:
            break
        kept = found
    return kept


def needed_order(kept: Sequence[int], ask: Ask) -> list[tuple[int, int]]:
    """Pairs (earlier, later) that must stay so: in no other order that was run does it fail with them exchanged.

    Of up to three tests every order is run, of more only exchanges of neighbours.
    """
    kept = tuple(kept)
    if len(kept) <= _FEW:
        orders = [order for order in permutations(kept) if order != kept]
        failing = [order for order, fails in zip(orders, ask(orders) if orders else [], strict=True) if fails]
        pairs = [(a, b) for i, a in enumerate(kept) for b in kept[i + 1 :]]
        return [(a, b) for a, b in pairs if all(order.index(a) < order.index(b) for order in failing)]
    swapped = [(*kept[:i], kept[i + 1], kept[i], *kept[i + 2 :]) for i in range(len(kept) - 1)]
    return [(kept[i], kept[i + 1]) for i, fails in enumerate(ask(swapped)) if not fails]
