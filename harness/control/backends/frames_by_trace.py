"""What the log of frames hears up to Python 3.11: the trace function of the points, with the log in front of it."""

from __future__ import annotations

from dis import opmap
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..borrow import give_back
from ..instrument import OUR_FOLDER

if TYPE_CHECKING:
    from ..frames import Frames
    from ..managed import Managed

_RETURN = opmap["RETURN_VALUE"]


def logged(trace: Any, frames: Frames, me: Managed) -> Any:
    """A global trace function that does what ``trace`` does, and tells ``frames``."""

    def on_call(frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if me.muted or code.co_filename.startswith(OUR_FOLDER):
            return trace(frame, event, arg)
        if code is not frames.callback:
            frames.started(me, frame)
            return trace(frame, event, arg)
        local = trace(frame, event, arg)
        if not frames.given(me, frame):
            return local
        frame.f_trace_lines, frame.f_trace_opcodes = False, True  # what was looked at is given back at the next event
        return _until_it_ends(local, frames, me)

    return on_call


def _until_it_ends(local: Any, frames: Frames, me: Managed) -> Any:
    kind = ""

    def on_event(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal kind
        if me.borrowed:
            give_back(me)
        if local is not None:
            local(frame, event, arg)
        if event == "exception":
            kind = arg[0].__name__
        elif event == "return":  # also where an exception ends it
            if frame.f_code.co_code[frame.f_lasti] == _RETURN:
                frames.answered(me, arg)
            else:
                frames.raised(me, kind)
        return on_event

    return on_event
