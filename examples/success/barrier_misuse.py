"""Every thread adds to ``board.parts``, meets the others at ``board.barrier`` and returns ``board.total``.

``total`` is computed by the action of the barrier, which runs once, before anybody is let go.
"""

import threading
from typing import Any

from harness import Axes, Scenario


class Board:
    def __init__(self, threads: int) -> None:
        self.parts: list[int] = []
        self.total: int | None = None
        self.barrier = threading.Barrier(threads, action=self.add_up)

    def add_up(self) -> None:
        self.total = sum(self.parts)


def setup(axes: Axes) -> Board:
    return Board(axes["threads"])


def contribute(board: Board) -> int | None:
    board.parts.append(1)
    board.barrier.wait()
    return board.total


def check(board: Board, results: list[Any]) -> None:
    right = results.count(len(results))
    assert right == len(results), f"{right} of {len(results)} threads were told the total"


barrier_misuse = Scenario(
    bodies=(contribute, contribute),
    setup=setup,
    check=check,
    summary="a result is made by the action of the barrier",
)
