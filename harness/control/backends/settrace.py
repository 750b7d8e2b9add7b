"""Points by ``sys.settrace``, for Python 3.10 and 3.11.

The global trace function sees every function start of the thread (that is the floor of the cost); only in code
with sites does a local one see opcodes. An opcode event comes *before* its instruction, so an access is armed there
and reported at the next event of the same frame, when it has happened.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..instrument import OURS
from ..places import Act, Kind

if TYPE_CHECKING:
    from ..controller import Controller
    from ..instrument import Instrumented, Instruments
    from ..managed import Managed

_MISSING: Any = object()


class SetTrace:
    def __init__(self, instruments: Instruments) -> None:
        self.instruments = instruments

    def enter(self, controller: Controller, me: Managed) -> None:
        sys.settrace(_tracer(controller, me, self.instruments))

    def leave(self, me: Managed) -> None:
        sys.settrace(None)


def _tracer(controller: Controller, me: Managed, instruments: Instruments) -> Any:
    by_id, resolve = instruments.by_id, instruments.resolve
    point, place, observer = controller.point, controller.place, controller.observer

    def on_call(frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        found = by_id.get(id(code), _MISSING)
        if found is _MISSING:
            found = resolve(code)
        if found is OURS:
            return None
        me.calls += 1
        me.places += 1
        if me.pending:
            place(me)
        if found is None:
            return None
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


def _local(controller: Controller, me: Managed, found: Instrumented) -> Any:
    at = found.acts.get
    leaving = found.exit
    point, place, observer = controller.point, controller.place, controller.observer
    armed: Act | None = None
    calls = 0

    def on_event(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal armed, calls
        if event == "opcode":
            offset = frame.f_lasti
            if armed is not None:
                act, armed = armed, None
                kind = act.kind
                if kind is Kind.ACCESS:
                    if observer is not None:
                        observer(me, act.points, frame)
                    for key in act.points:
                        point(me, key)
                elif kind is Kind.STEP:
                    for key in act.points:
                        point(me, key)
                elif (me.calls == calls) if kind is Kind.CALL else (offset < act.offset):
                    place(me)
                    if act.points:
                        for key in act.points:
                            point(me, key)
                        place(me)
            armed = at(offset)
            calls = me.calls
        elif event == "return":
            armed = None
            if leaving:
                if observer is not None:
                    observer(me, leaving, frame)
                for key in leaving:
                    point(me, key)
        elif event == "exception":
            armed = None
        return on_event

    return on_event
