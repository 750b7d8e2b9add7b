"""An object that a weak reference with a callback is watching."""

from __future__ import annotations

from collections.abc import Callable
from weakref import ref


class Watched:
    def __init__(self) -> None:
        self.cycle = self


#: A weak reference that is garbage itself calls nobody: these are kept until they have called.
_watching: set[ref[Watched]] = set()


def make(callback: Callable[[], object]) -> Watched:
    watched = Watched()

    def died(dead: ref[Watched]) -> None:
        _watching.discard(dead)
        callback()

    _watching.add(ref(watched, died))
    return watched
