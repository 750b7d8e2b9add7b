"""A shallow copy is taken first, in one step; the deep copy is made from that."""

import copy
from typing import Any

from harness import Axes, Scenario


def setup(axes: Axes) -> dict[str, list[int]]:
    return {"bread": [1], "milk": [2]}


def snapshot(stock: dict[str, list[int]]) -> int:
    return len(copy.deepcopy(dict(stock)))


def enter(stock: dict[str, list[int]]) -> None:
    stock["tea"] = [4]


def check(stock: dict[str, list[int]], results: list[Any]) -> None:
    assert all(count in (2, 3) for count in results[0::2]), f"{results} items"


copy_of_shared_dict = Scenario(
    bodies=(snapshot, enter),
    setup=setup,
    check=check,
    modules=(copy.__name__,),
    summary="a shallow copy in one step, the deep copy from that",
)
