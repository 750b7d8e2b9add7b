"""More events for code in which a thread has a hand-over pending.

The next place may be a call in code that is not watched for calls, or in a caller of it. Such code gets
these events when something is pending in it or may return to it, and loses them at the first event that
finds nothing pending: to watch every call all the time would cost a sixth of a compile.
"""

from __future__ import annotations

from dis import opmap
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from ..places import CALLS
from .tool import MONITORING

if TYPE_CHECKING:
    from .local import Local

_CALLS = {opmap[name] for name in CALLS if name in opmap}


class Climb:
    def __init__(self, known: dict[int, Local]) -> None:
        self.known = known  # by id of the code object: those that have events of their own
        self._watched: dict[int, CodeType] = {}

    def watch(self, tool: int, frame: FrameType) -> None:
        """Something is pending in ``frame``, or will be when it goes on."""
        code = frame.f_code
        local = self.known.get(id(code))
        if id(code) in self._watched or (local is not None and local.fine):
            return
        of = MONITORING.events
        self._watched[id(code)] = code
        own = local.events if local is not None else 0
        MONITORING.set_local_events(tool, code, own | of.CALL | of.JUMP | of.PY_RETURN | of.PY_YIELD)

    def no_more(self, tool: int, code: CodeType) -> None:
        if self._watched.pop(id(code), None) is not None:
            local = self.known.get(id(code))
            MONITORING.set_local_events(tool, code, local.events if local is not None else 0)

    def is_call(self, code: CodeType, offset: int) -> bool:
        """Not ``super().name``, which has a CALL event too."""
        return code.co_code[offset] in _CALLS

    def stop(self, tool: int) -> None:
        for code in list(self._watched.values()):
            self.no_more(tool, code)
