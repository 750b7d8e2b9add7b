"""Points by ``sys.settrace``, for Python 3.10 and 3.11.

The global trace function sees every function start of the thread (that is the floor of the cost); only in code
with sites does a local one see opcodes. An opcode event comes *before* its instruction, so an access is armed there
and reported at the next event of the same frame, when it has happened.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from harness.states.kinds.makers import SUSPENDED

from .. import active
from ..borrow import give_back
from ..gives_up import released
from ..instrument import OURS
from ..look import makes_generator
from ..places import Act, Kind
from ..raw import get_ident
from .frames_by_trace import logged

if TYPE_CHECKING:
    from ..controller import Controller
    from ..frames import Frames
    from ..instrument import Instrumented, Instruments
    from ..managed import Managed

_MISSING: Any = object()


class SetTrace:
    def __init__(self, instruments: Instruments) -> None:
        self.instruments = instruments
        self._frames: Frames | None = None

    def enter(self, controller: Controller, me: Managed) -> None:
        trace = _tracer(controller, me, self.instruments)
        sys.settrace(trace if self._frames is None else logged(trace, self._frames, me))

    def running(self, controller: Controller, me: Managed, frame: FrameType) -> None:
        at: FrameType | None = frame
        while at is not None:
            found = self.instruments.resolve(at.f_code, at, me)
            if found is not None and found is not OURS:
                at.f_trace_lines, at.f_trace_opcodes = False, True
                at.f_trace = _local(controller, me, found)
            at = at.f_back

    def leave(self, me: Managed) -> None:
        sys.settrace(None)

    @contextmanager
    def logging(self, frames: Frames) -> Iterator[None]:
        self._frames = frames
        try:
            yield
        finally:
            self._frames = None

    def activate(self, shared: Any) -> None:
        self.instruments.activate(shared)


def _tracer(controller: Controller, me: Managed, instruments: Instruments) -> Any:
    by_id, resolve = instruments.by_id, instruments.resolve
    point, place, observer = controller.point, controller.place, controller.observer

    def on_call(frame: FrameType, event: str, arg: Any) -> Any:
        if me.borrowed:
            give_back(me)
        code = frame.f_code
        found = by_id.get(id(code), _MISSING)
        if found is _MISSING:
            found = resolve(code, frame, me)
        if found is OURS or me.muted:
            return None
        me.calls += 1
        me.places += 1
        if me.pending:
            place(me)
        if found is not None and found.told is not None:
            found.told(me, frame)
        if found is None or found.bare:
            return _gives_back(me, frame) if me.borrowed else None
        frame.f_trace_lines = False
        frame.f_trace_opcodes = True
        if found.entry:
            if observer is not None:
                observer(me, found.entry, frame)
            for key in found.entry:
                point(me, key)
            place(me)
        return _local(controller, me, found)

    return on_call


def _gives_back(me: Managed, frame: FrameType) -> Any:
    """Once, before the first instruction."""
    frame.f_trace_lines, frame.f_trace_opcodes = False, True

    def on_event(frame: FrameType, event: str, arg: Any) -> Any:
        if me.borrowed:
            give_back(me)
        frame.f_trace_opcodes, frame.f_trace = False, None
        return None

    return on_event


def _local(controller: Controller, me: Managed, found: Instrumented) -> Any:
    at = found.acts.get
    leaving = found.exit
    point, place, observer = controller.point, controller.place, controller.observer
    armed: Act | None = None
    calls = 0

    def passed(keys: tuple[str, ...], frame: FrameType) -> None:
        if observer is not None:
            observer(me, keys, frame)
        for key in keys:
            point(me, key)

    def after(act: Act, frame: FrameType, offset: int) -> None:
        """What has been executed, and is not just an access."""
        if act.accesses:
            passed(act.accesses, frame)
        kind = act.kind
        if kind is Kind.STEP:
            for key in act.points:
                point(me, key)
        elif kind is not Kind.NOTHING and ((me.calls == calls) if kind is Kind.CALL else (offset < act.offset)):
            check = not (me.pending and act.maker is not None and makes_generator(act.maker, frame, me))
            if check:
                place(me)
            if act.points:
                for key in act.points:
                    point(me, key)
                if check:
                    place(me)
        if act.releases and act.operands is not None:
            released(me, act.operands, frame)

    def on_event(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal armed, calls
        if me.borrowed:
            give_back(me)
        if event == "opcode":
            offset = frame.f_lasti
            if armed is not None:
                act, armed = armed, None
                if act.kind is Kind.ACCESS:
                    passed(act.points, frame)
                    if act.releases and act.operands is not None:
                        released(me, act.operands, frame)
                else:
                    after(act, frame, offset)
            armed = at(offset)
            if armed is not None and armed.before:
                for key in armed.before:
                    point(me, key)
            calls = me.calls
        elif event == "return":
            armed = None
            if leaving:
                passed(leaving, frame)
        elif event == "exception":
            if armed is not None and observer is not None and armed.offset == frame.f_lasti:
                observer.in_vain(me, armed, frame)
            armed = None
        return on_event

    def on_event_anywhere(frame: FrameType, event: str, arg: Any) -> Any:
        """A generator may be closed in another thread than that which started it, or after the run."""
        if active.controller is not controller:
            return None
        if get_ident() == me.ident:
            on_event(frame, event, arg)
            return on_event_anywhere
        other = controller.by_ident.get(get_ident())
        return None if other is None else _local(controller, other, found)(frame, event, arg)

    return on_event_anywhere if found.sites.code.co_flags & SUSPENDED else on_event
