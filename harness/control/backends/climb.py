"""Events for code without sites while a thread in it has a hand-over pending.

The next place may be in a caller of the code that passed the point. The caller gets events when the callee may return
to it, and loses them at the first event that finds nothing pending.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from dis import opmap
from types import CodeType, FrameType

from ..places import CALLS

_CALLS = {opmap[name] for name in CALLS if name in opmap}


class Climb:
    def __init__(self, known: Container[int]) -> None:
        self.known = known  # ids of code objects that have events of their own
        self._watched: dict[int, CodeType] = {}

    def watch(self, tool: int, frame: FrameType) -> None:
        """Something is pending in ``frame``; its code, if it has sites, will tell when it returns."""
        code = frame.f_code
        if id(code) in self.known or id(code) in self._watched:
            return
        of = sys.monitoring.events
        self._watched[id(code)] = code
        sys.monitoring.set_local_events(tool, code, of.CALL | of.JUMP | of.PY_RETURN | of.PY_YIELD)

    def no_more(self, tool: int, code: CodeType) -> None:
        if self._watched.pop(id(code), None) is not None:
            sys.monitoring.set_local_events(tool, code, 0)

    def is_call(self, code: CodeType, offset: int) -> bool:
        """Not ``super().name``, which has a CALL event too."""
        return code.co_code[offset] in _CALLS

    def stop(self, tool: int) -> None:
        for code in list(self._watched.values()):
            self.no_more(tool, code)
