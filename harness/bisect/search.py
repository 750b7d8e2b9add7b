"""Which release to test next, and what the tested ones say. Both ends come first: between equal ends there is nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from harness.errors import UserError

from .step import Step


@dataclass(frozen=True)
class Found:
    """kind      ``appeared`` or ``fixed``
    last_old  the last release that is like the old end
    first_new the first one that is like the new end
    between   releases between these two that could not be tested; empty: the answer is exact
    """

    kind: str
    last_old: Step
    first_new: Step
    between: tuple[Step, ...] = ()


def next_release(releases: Sequence[str], steps: Mapping[str, Step], at_hand: Set[str] = frozenset()) -> str | None:
    """None when nothing is left to test. Raises UserError where the ends are equal, or the steps contradict each other.

    The middle of what is left; one that is ``at_hand`` in the middle half is taken before one that must be made.
    """
    for end in (releases[0], releases[-1]):
        if end not in steps:
            return end
    if any(steps[end].result == "skip" for end in (releases[0], releases[-1])):
        return None
    low, high = _bounds(releases, steps)
    left = [index for index in range(low + 1, high) if releases[index] not in steps]
    if not left:
        return None
    middle, quarter = (low + high) / 2, (high - low) / 4
    inner = [index for index in left if abs(index - middle) <= quarter and releases[index] in at_hand]
    return releases[min(inner or left, key=lambda index: (abs(index - middle), index))]


def conclude(releases: Sequence[str], steps: Mapping[str, Step]) -> Found:
    """To be called when :func:`next_release` has nothing left. Raises UserError as that does."""
    low, high = _bounds(releases, steps)
    last, first = steps[releases[low]], steps[releases[high]]
    between = tuple(steps[release] for release in releases[low + 1 : high] if release in steps)
    return Found("fixed" if last.result == "present" else "appeared", last, first, between)


def _bounds(releases: Sequence[str], steps: Mapping[str, Step]) -> tuple[int, int]:
    old, new = steps[releases[0]], steps[releases[-1]]
    if old.result == new.result:
        word = "is there" if old.result == "present" else "is not there"
        raise UserError(f"both ends are equal: the failure {word} on torch {old.torch} and on {new.torch}; nothing lies between")
    low, high = 0, len(releases) - 1
    for index, release in enumerate(releases):
        if release in steps and steps[release].result == old.result:
            low = index
    for index in range(len(releases) - 1, -1, -1):
        if releases[index] in steps and steps[releases[index]].result == new.result:
            high = index
    if low > high:
        raise UserError(
            f"torch {releases[low]} is like the old end and {releases[high]}, before it, like the new one: it came and went "
            "more than once; choose narrower ends"
        )
    return low, high
