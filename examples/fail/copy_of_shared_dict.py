"""One thread takes a deep copy of ``stock`` while the other enters one more item.

``copy.deepcopy`` loops over the dictionary that it is given and calls functions in that loop. If the entry is made during
one of them, the next step raises RuntimeError. All of it happens in the library: only that it holds ``stock`` shows where.
"""

import copy
from typing import Any

from harness import Axes, Scenario


def setup(axes: Axes) -> dict[str, list[int]]:
    return {"bread": [1], "milk": [2]}


def snapshot(stock: dict[str, list[int]]) -> int:
    return len(copy.deepcopy(stock))


def enter(stock: dict[str, list[int]]) -> None:
    stock["tea"] = [4]


def check(stock: dict[str, list[int]], results: list[Any]) -> None:
    assert all(count in (2, 3) for count in results[0::2]), f"{results} items"


copy_of_shared_dict = Scenario(
    bodies=(snapshot, enter),
    setup=setup,
    check=check,
    modules=(copy.__name__,),
    summary="a dictionary grows while a library copies it",
)
