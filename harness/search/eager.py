"""A thread runs as soon as it is started, until it blocks or ends: the other of the two orders that are no race's fault."""

from __future__ import annotations

from collections.abc import Sequence

from harness.control.actions import Action, HandOver
from harness.control.managed import Managed


class Eager:
    def at(self, me: Managed, key: str, n: int) -> Sequence[Action]:
        kind, _, started = key.partition(":")
        return (HandOver(started),) if kind == "start" else ()

    def pick(self, me: Managed, key: str, n: int, ready: list[Managed]) -> Managed:
        return ready[0]
