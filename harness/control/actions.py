"""What can be asked of a thread at a point, and who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .managed import Managed


class HandOver(NamedTuple):
    """Give the baton to the thread named ``target``."""

    target: str


class Collect(NamedTuple):
    """Run the garbage collector for ``generation``."""

    generation: int


Action = HandOver | Collect


class Asked(NamedTuple):
    """An action asked for at the n-th passing of a point, waiting for a place."""

    action: Action
    key: str
    n: int


class Decider(Protocol):
    """Decides at points. One object a run; deterministic given its own seed."""

    def at(self, me: Managed, key: str, n: int) -> Sequence[Action]:
        """Thread ``me`` passes point ``key`` for the n-th time: what shall happen? Usually nothing."""
        ...

    def pick(self, me: Managed, key: str, n: int, ready: list[Managed]) -> Managed:
        """``me`` cannot go on (blocked at or ended with ``key``): who goes on? ``ready`` is not empty."""
        ...
