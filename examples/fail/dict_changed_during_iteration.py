"""One thread adds up the values of ``prices`` while the other enters one more.

The sum is a loop over ``prices`` itself with a call of ``with_tax`` in it. If the entry is made during such a
call, the next step of the loop raises RuntimeError: the dictionary changed its size.
"""

from typing import Any

from harness import Axes, Scenario


def setup(axes: Axes) -> dict[str, int]:
    return {"bread": 1, "milk": 2}


def with_tax(price: int) -> int:
    return price + 1


def add_up(prices: dict[str, int]) -> int:
    total = 0
    for price in prices.values():
        total += with_tax(price)
    return total


def enter(prices: dict[str, int]) -> None:
    prices["tea"] = 4


def check(prices: dict[str, int], results: list[Any]) -> None:
    for total in results[0::2]:
        assert total in (5, 10), f"{total} is the sum neither without tea (5) nor with it (10)"


dict_changed_during_iteration = Scenario(
    bodies=(add_up, enter),
    setup=setup,
    check=check,
    summary="a dictionary grows during a loop over it",
)
