"""A bounded queue whose items are numbered and leave in the order of their numbers."""

from __future__ import annotations

from typing import Generic, TypeVar

from dflash.pipeline.board import Board

Item = TypeVar("Item")


class Window(Generic[Item]):
    """At most `size` numbers ahead of the next one to be taken may be put; who puts a later one waits.

    The next number can always be put, so a full window never waits for itself. Items may be put by several
    threads in any order, and taken by several.
    """

    def __init__(self, board: Board, size: int) -> None:
        self.board, self.size = board, size
        self.next = 0
        self.items: dict[int, Item] = {}
        self.deepest = 0

    def put(self, number: int, item: Item) -> None:
        """Raises Stopped when the pipeline ends meanwhile."""
        board = self.board
        with board.condition:
            board.wait(lambda: number < self.next + self.size)
            self.items[number] = item
            self.deepest = max(self.deepest, len(self.items))
            board.condition.notify_all()

    def take(self) -> Item:
        """The item with the next number. Raises Stopped when the pipeline ends meanwhile."""
        board = self.board
        with board.condition:
            board.wait(lambda: self.next in self.items)
            item = self.items.pop(self.next)
            self.next += 1
            board.condition.notify_all()
            return item
