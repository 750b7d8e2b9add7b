"""The addition is made under a lock."""

import threading
from fractions import Fraction
from typing import Any

from harness import Axes, Scenario

THIRD = Fraction(1, 3)


class Total:
    def __init__(self, axes: Axes) -> None:
        self.cell = [Fraction(0)]
        self.lock = threading.Lock()


def add(total: Total) -> None:
    with total.lock:
        total.cell[0] = total.cell[0] + THIRD


def check(total: Total, results: list[Any]) -> None:
    assert total.cell[0] == THIRD * len(results), f"{len(results)} thirds make {total.cell[0]}"


operator_of_a_library = Scenario(
    bodies=(add, add),
    setup=Total,
    check=check,
    summary="the addition is made under a lock",
)
