"""Calls and backward jumps as places, and as points in code where every place is one."""

from __future__ import annotations

import sys
from types import CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any

from .. import raw
from .local import Thread, pass_points
from .python_calls import Starts, starts_with
from .tool import MONITORING

if TYPE_CHECKING:
    from .monitoring import Monitoring


def calls(own: Monitoring) -> tuple[Any, Any, Any]:
    """Before a call of something in Python there is a place, and after one that stayed in C."""
    inside, local, get_ident = own.inside, own.local, raw.get_ident

    def on_call(code: CodeType, offset: int, called: Any, first: Any) -> Any:
        thread = inside.get(get_ident())
        if thread is None:
            return None
        found = local.get(id(code))
        if (found is None or not found.fine) and not thread.me.pending:
            own.climb.no_more(own.tool, code)
            if found is None or not found.by_call or offset not in found.acts or not found.acts[offset].accesses:
                return None
        if not own.climb.is_call(code, offset) if found is None else offset not in found.acts:
            return None  # super().name: no check of the eval breaker
        starts = starts_with(called)
        if starts is Starts.PYTHON:
            me = thread.me
            me.places += 1
            if me.pending:
                thread.place(me)
        elif starts is Starts.C:
            thread.calls.append((code, offset, thread.starts))
        elif found is not None and found.fine:  # no place, but a point: settrace has one too
            pass_points(thread, found.acts[offset].points, sys._getframe(1), observed=False)
        return None

    def returned(thread: Thread, code: CodeType, offset: int) -> bool:
        """Was this a call into C, which started no function we know of?"""
        pending = thread.calls
        while pending:
            of, at, starts = pending.pop()
            if of is code and at == offset:
                return starts == thread.starts
        return False

    def accessed(thread: Thread, accesses: tuple[str, ...], offset: int, frame: FrameType) -> None:
        """A call that is an access is told of before its place, not at the next instruction."""
        armed = thread.armed
        if armed is not None and armed[0] is frame and armed[1].offset == offset:
            thread.armed = armed[2]
        pass_points(thread, accesses, frame)

    def on_c_return(code: CodeType, offset: int, called: Any, first: Any) -> None:
        thread = inside.get(get_ident())
        if thread is None or not thread.calls or type(called) is FunctionType:
            return
        if not returned(thread, code, offset):
            return
        me = thread.me
        found = local.get(id(code))
        if found is not None and found.acts[offset].accesses:
            accessed(thread, found.acts[offset].accesses, offset, sys._getframe(1))
        thread.place(me)
        if found is None:
            return
        points = found.acts[offset].points
        if points:
            pass_points(thread, points, sys._getframe(1), observed=False)
            thread.place(me)

    def on_c_raise(code: CodeType, offset: int, called: Any, first: Any) -> None:
        thread = inside.get(get_ident())
        if thread is not None and thread.calls:
            returned(thread, code, offset)

    return on_call, on_c_return, on_c_raise


def jumps(own: Monitoring) -> Any:
    inside, local, get_ident = own.inside, own.local, raw.get_ident
    disable = MONITORING.DISABLE

    def on_jump(code: CodeType, offset: int, to: int) -> Any:
        found = local.get(id(code))
        if found is not None and offset not in found.acts:
            return disable  # forwards
        thread = inside.get(get_ident())
        if thread is None:
            return None
        me = thread.me
        if (found is None or not found.fine) and not me.pending:
            return own.climb.no_more(own.tool, code)
        if found is None:
            if to <= offset:
                thread.place(me)
            return None
        thread.place(me)
        points = found.acts[offset].points
        if points:
            pass_points(thread, points, sys._getframe(1), observed=False)
            thread.place(me)
        return None

    return on_jump
