"""A hand-over or collection that took place."""

from __future__ import annotations

from .actions import Action


class Switch:
    """One hand-over or collection that happened, as a schedule would ask for it."""

    __slots__ = ("action", "forced", "key", "n", "position", "thread")

    def __init__(self, thread: int, key: str, n: int, action: Action, forced: bool, position: int) -> None:
        self.thread = thread
        self.key = key
        self.n = n
        self.action = action
        self.forced = forced  # the thread could not have gone on anyway
        self.position = position  # length of the log when it happened
