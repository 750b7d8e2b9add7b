"""The decider of a schedule: its directives, and the default rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .actions import Action, HandOver
from .managed import Managed

if TYPE_CHECKING:
    from harness.schedule.schedule import Directive


class Sparse:
    def __init__(self, directives: Iterable[Directive]) -> None:
        self._wanted: dict[tuple[str, str], dict[int, list[Action]]] = {}
        self._open: dict[tuple[str, str, int], list[Directive]] = {}
        for d in directives:
            self._wanted.setdefault((d.thread, d.point), {}).setdefault(d.n, []).append(d.action)
            self._open.setdefault((d.thread, d.point, d.n), []).append(d)

    def at(self, me: Managed, key: str, n: int) -> Sequence[Action]:
        here = self._wanted.get((me.name, key))
        if here is None or n not in here:
            return ()
        self._open.pop((me.name, key, n), None)
        return here[n]

    def pick(self, me: Managed, key: str, n: int, ready: list[Managed]) -> Managed:
        for action in self.at(me, key, n):
            if isinstance(action, HandOver):
                for other in ready:
                    if other.name == action.target:
                        return other
        return ready[0]

    def unused(self) -> list[Directive]:
        """Directives whose point was never passed: the schedule does not align with this program."""
        return [d for group in self._open.values() for d in group]
