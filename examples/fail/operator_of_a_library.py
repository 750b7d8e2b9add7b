"""Two threads add a third to ``total[0]``, a ``Fraction``.

There is no call in the body, but ``+`` is one: ``Fraction.__add__`` is written in Python. While it works out the sum
from the total that was read, the other thread adds its third, which is then lost.
"""

from fractions import Fraction
from typing import Any

from harness import Axes, Scenario

THIRD = Fraction(1, 3)


def setup(axes: Axes) -> list[Fraction]:
    return [Fraction(0)]


def add(total: list[Fraction]) -> None:
    total[0] = total[0] + THIRD


def check(total: list[Fraction], results: list[Any]) -> None:
    assert total[0] == THIRD * len(results), f"{len(results)} thirds make {total[0]}"


operator_of_a_library = Scenario(
    bodies=(add, add),
    setup=setup,
    check=check,
    summary="an addition is lost during an operator that a library implements",
)
