"""What ``Monitoring`` knows of one code object with sites."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from ..places import Act, Kind
from .tool import MONITORING

if TYPE_CHECKING:
    from ..instrument import Instrumented


class Local:
    """acts     what to do, by offset
    watched  offsets whose INSTRUCTION event is wanted, with the act to arm there, if any
    fine     calls and jumps are points too
    events   the local events it needs at all times
    """

    __slots__ = ("_calls", "_jumps", "acts", "entry", "events", "exit", "fine", "watched")

    def __init__(self, found: Instrumented) -> None:
        self.acts = found.acts
        self.entry = found.entry
        self.exit = found.exit
        self.fine = found.sites.fine
        reported = [act for act in found.acts.values() if act.kind in (Kind.ACCESS, Kind.STEP)]
        self.watched: dict[int, Act | None] = {}
        for act in reported:
            for offset in act.follows:
                self.watched[offset] = None
        self.watched.update((act.offset, act) for act in reported)
        self._calls = sorted(offset for offset, act in found.acts.items() if act.kind is Kind.CALL)
        self._jumps = any(act.kind is Kind.JUMP for act in found.acts.values())
        of = MONITORING.events
        self.events: int = of.INSTRUCTION if self.watched else 0
        if self.fine or self.exit:
            self.events |= of.PY_RETURN | of.PY_YIELD
        if self.fine:
            self.events |= of.CALL | of.JUMP

    def place_between(self, before: int, offset: int) -> bool:
        """May there be a place between these two accesses? Calls are not counted in code that is not fine."""
        if self._jumps or before >= offset:
            return True
        return bisect_right(self._calls, before) != bisect_right(self._calls, offset)
