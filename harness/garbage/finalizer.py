"""An object with ``__del__``."""

from __future__ import annotations

from collections.abc import Callable


class Finalized:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback = callback
        self.cycle = self

    def __del__(self) -> None:
        self.callback()


def make(callback: Callable[[], object]) -> Finalized:
    return Finalized(callback)
