"""What the log of frames hears on Python 3.12 and later, by the second tool.

It wants every start told of. What one tool asks for, disables or restarts is not another's, so points and places are
those of a run without the log.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import TYPE_CHECKING, Any

from .. import raw
from ..instrument import OUR_FOLDER
from . import tool
from .tool import MONITORING

if TYPE_CHECKING:
    from ..frames import Frames
    from ..managed import Managed


class FrameEvents:
    """``inside``: the threads of the run, by ident. ``close`` it when the run is over."""

    def __init__(self, frames: Frames) -> None:
        self.inside: dict[int, Managed] = {}
        self._frames = frames
        self._tool = tool.second()
        of = MONITORING.events
        callbacks = {of.PY_START: self._start(), of.PY_RETURN: self._return(), of.PY_UNWIND: self._unwind()}
        callbacks[of.PY_RESUME] = callbacks[of.PY_START]
        for event, callback in callbacks.items():
            MONITORING.register_callback(self._tool, event, callback)
        MONITORING.set_local_events(self._tool, frames.callback, of.PY_RETURN)
        MONITORING.set_events(self._tool, of.PY_START | of.PY_RESUME | of.PY_UNWIND)

    def close(self) -> None:
        MONITORING.set_events(self._tool, 0)
        MONITORING.set_local_events(self._tool, self._frames.callback, 0)

    def _start(self) -> Any:
        inside, frames, get_ident, getframe = self.inside, self._frames, raw.get_ident, sys._getframe
        disable = MONITORING.DISABLE

        def on_start(code: CodeType, offset: int) -> Any:
            if code.co_filename.startswith(OUR_FOLDER):
                return disable
            me = inside.get(get_ident())
            if me is not None and not me.muted:
                tell = frames.given if code is frames.callback else frames.started
                tell(me, getframe(1))
            return None

        return on_start

    def _return(self) -> Any:
        inside, frames, get_ident = self.inside, self._frames, raw.get_ident

        def on_return(code: CodeType, offset: int, value: Any) -> None:
            me = inside.get(get_ident())
            if me is not None:
                frames.answered(me, value)

        return on_return

    def _unwind(self) -> Any:
        inside, frames, get_ident = self.inside, self._frames, raw.get_ident

        def on_unwind(code: CodeType, offset: int, error: BaseException) -> None:
            me = inside.get(get_ident()) if code is frames.callback else None
            if me is not None:
                frames.raised(me, type(error).__name__)

        return on_unwind
