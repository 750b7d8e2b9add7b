"""Every thread adds to ``board.parts``, meets the others at ``board.barrier`` and returns ``board.total``.

The last to arrive computes ``total`` after the barrier. The barrier has let the others go by then: a thread
that goes on first returns a ``total`` that is still None.
"""

import threading
from typing import Any

from harness import Axes, Scenario


class Board:
    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.parts: list[int] = []
        self.total: int | None = None
        self.barrier = threading.Barrier(threads)


def setup(axes: Axes) -> Board:
    return Board(axes["threads"])


def contribute(board: Board) -> int | None:
    board.parts.append(1)
    arrival = board.barrier.wait()
    if arrival == board.threads - 1:
        board.total = sum(board.parts)
    return board.total


def check(board: Board, results: list[Any]) -> None:
    right = results.count(len(results))
    assert right == len(results), f"{right} of {len(results)} threads were told the total"


barrier_misuse = Scenario(
    bodies=(contribute, contribute),
    setup=setup,
    check=check,
    summary="a result is made after the barrier that should have announced it",
)
