"""One thread moves money from ``left`` to ``right``, the other back.

The first takes ``left_lock`` and then ``right_lock``, the second the other way round. If each has taken its
first lock, each waits for the other for ever.
"""

import threading
from typing import Any

from harness import Axes, Scenario


class Bank:
    def __init__(self) -> None:
        self.left = 10
        self.right = 10
        self.left_lock = threading.Lock()
        self.right_lock = threading.Lock()


def setup(axes: Axes) -> Bank:
    return Bank()


def allowed(bank: Bank) -> int:
    """A call between the two locks: here the interpreter can give up the GIL."""
    return 1


def to_right(bank: Bank) -> None:
    with bank.left_lock:
        amount = allowed(bank)
        with bank.right_lock:
            bank.left -= amount
            bank.right += amount


def to_left(bank: Bank) -> None:
    with bank.right_lock:
        amount = allowed(bank)
        with bank.left_lock:
            bank.right -= amount
            bank.left += amount


def check(bank: Bank, results: list[Any]) -> None:
    unpaired = len(results) % 2
    assert (bank.left, bank.right) == (10 - unpaired, 10 + unpaired), f"money lost: {bank.left}, {bank.right}"


ab_ba_deadlock = Scenario(
    bodies=(to_right, to_left),
    setup=setup,
    check=check,
    summary="two locks taken in opposite orders",
)
