"""What ``Monitoring`` knows of one code object with sites, and of one thread within a run."""

from __future__ import annotations

from bisect import bisect_right
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from ..places import Act, Kind
from .tool import MONITORING

if TYPE_CHECKING:
    from ..controller import Controller
    from ..instrument import Instrumented
    from ..managed import Managed


class Local:
    """acts     what to do, by offset
    watched  offsets whose INSTRUCTION event is wanted, with the act to arm there, if any
    fine     calls and jumps are points too
    by_call  some accesses are calls
    events   the local events it needs at all times
    """

    __slots__ = ("_calls", "_jumps", "acts", "by_call", "entry", "events", "exit", "fine", "told", "watched")

    def __init__(self, found: Instrumented) -> None:
        self.acts = found.acts
        self.entry = found.entry
        self.exit = found.exit
        self.told = found.told
        self.fine = found.sites.fine
        self.watched: dict[int, Act | None] = {}
        reported = [act for act in found.acts.values() if _is_reported(act)]
        for act in reported:
            for offset in act.follows:
                self.watched[offset] = None
        self.watched.update((act.offset, act) for act in found.acts.values() if act.before or _is_reported(act))
        self.by_call = any(act.accesses for act in found.acts.values())
        self._calls = sorted(offset for offset, act in found.acts.items() if act.kind is Kind.CALL)
        self._jumps = any(act.kind is Kind.JUMP for act in found.acts.values())
        of = MONITORING.events
        self.events: int = of.INSTRUCTION if self.watched else 0
        if self.fine or self.exit:
            self.events |= of.PY_RETURN | of.PY_YIELD
        if self.fine:
            self.events |= of.CALL | of.JUMP
        if self.by_call:
            self.events |= of.CALL

    def place_between(self, before: int, offset: int) -> bool:
        """May there be a place between these two accesses? Calls are not counted in code that is not fine."""
        if self._jumps or before >= offset:
            return True
        return bisect_right(self._calls, before) != bisect_right(self._calls, offset)


def _is_reported(act: Act) -> bool:
    """Seen at an instruction that follows it; ``before`` is passed on arrival."""
    return act.kind in (Kind.ACCESS, Kind.STEP) or bool(act.accesses) or act.releases


class Thread:
    """What is remembered of one thread within a run.

    armed   accesses begun and not yet seen finished, innermost first: (frame, act, the next one)
    calls   calls into C that have not returned: (code, offset, ``starts`` at that time)
    starts  how many functions with sites have started
    last    the last access: (code, offset, ``starts`` at that time)
    """

    __slots__ = ("armed", "calls", "last", "me", "observer", "place", "point", "starts")

    def __init__(self, controller: Controller, me: Managed) -> None:
        self.me = me
        self.point = controller.point
        self.place = controller.place
        self.observer = controller.observer
        self.armed: tuple[FrameType, Act, Any] | None = None
        self.calls: list[tuple[CodeType, int, int]] = []
        self.starts = 0
        self.last: tuple[CodeType | None, int, int] = (None, 0, 0)


def pass_points(thread: Thread, points: tuple[str, ...], frame: FrameType, observed: bool = True) -> None:
    """The points of an access, which has happened."""
    if observed and thread.observer is not None:
        thread.observer(thread.me, points, frame)
    for key in points:
        thread.point(thread.me, key)
