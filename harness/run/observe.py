"""Records every state access of a run: who, where, by which code, and the value afterwards."""

from __future__ import annotations

import dis
import os
import traceback
from functools import lru_cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from harness.control.borrow import locals_of
from harness.control.shield import shield
from harness.states.value import MISSING
from harness.states.values import fetch, shown

from .holder import holder
from .seen import NOT_KNOWN, seen

if TYPE_CHECKING:
    from harness.control.controller import Controller
    from harness.control.managed import Managed
    from harness.control.places import Act

#: Frames that are nobody's program: ours, and what runs a program or its tests.
_OURS = ("/harness/control/", "/harness/run/", "/harness/program/", "/harness/parent.py", "<frozen runpy>", "/_pytest/", "/pluggy/")


class Observer:
    def __init__(self) -> None:
        self.controller: Controller | None = None
        self.accesses: list[dict[str, Any]] = []
        self._objects: dict[str, dict[int, int]] = {}  # by class and id: they are not kept alive

    def __call__(self, me: Managed, points: tuple[str, ...], frame: FrameType) -> None:
        with shield():
            self._record(me, points, frame)

    def in_vain(self, me: Managed, act: Act, frame: FrameType) -> None:
        """An instruction raised: what it was to read it has read, but that is no point."""
        reads = [key.replace("write:", "read:", 1) if act.accesses else key for key in act.accesses or act.points]
        self(me, tuple(key for key in reads if key.startswith("read:")), frame)

    def _record(self, me: Managed, points: tuple[str, ...], frame: FrameType) -> None:
        assert self.controller is not None
        for point in points:
            kind, _, state = point.partition(":")
            if kind not in ("read", "write"):
                continue
            value, of = self._seen(state, frame, me)
            code = frame.f_code
            line = _line_of(frame, state)
            stack = traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)
            stack[0] = traceback.FrameSummary(code.co_filename, line, code.co_name, lookup_line=False)
            self.accesses.append(
                {
                    "thread": me.name,
                    "kind": kind,
                    "state": state,
                    "n": me.counts.get(point, 0) + 1,
                    "value": value,
                    "of": of,
                    "file": code.co_filename,
                    "line": line,
                    "function": f"{frame.f_globals.get('__name__', '?')}.{getattr(code, 'co_qualname', code.co_name)}",
                    "at": len(self.controller.log),
                    "pid": os.getpid(),
                    "stack": [_line(s) for s in stack if not any(part in s.filename for part in _OURS)][::-1],
                }
            )

    def _seen(self, state: str, frame: FrameType, me: Managed) -> tuple[str, int]:
        """(its value, which object of its class it is of: from 1 in the order of first access, 0 where that is not told)."""
        owner, colon, name = state.rpartition(":")
        try:
            if not colon:
                return shown(fetch(state)), 0
        except LookupError:
            return (NOT_KNOWN if state.endswith("()") else "unset"), 0  # C has it, and no getter
        found = holder(frame, name, me)
        if found is MISSING:
            cls = owner.rpartition(".")[2]
            locals_ = locals_of(frame, me).values()
            holders = {id(v): v for v in locals_ if type(v).__name__ == cls and name in getattr(v, "__dict__", ())}
            if len(holders) != 1:
                return NOT_KNOWN, 0
            found = next(iter(holders.values()))
        same = self._objects.setdefault(owner, {})
        of = same.setdefault(id(found), len(same) + 1)
        return seen(found, name), of


def _line_of(frame: FrameType, state: str) -> int:
    """An access is reported when it has happened: the frame is one instruction further, maybe on the next line."""
    line, name = _before(frame.f_code).get(frame.f_lasti, (frame.f_lineno, ""))
    return line if name == state.rpartition(".")[2].rpartition(":")[2] else frame.f_lineno


@lru_cache(maxsize=256)
def _before(code: CodeType) -> dict[int, tuple[int, str]]:
    """Offset of an instruction -> (line, name) of the one before it."""
    found: dict[int, tuple[int, str]] = {}
    lines = {start: line for start, _, line in code.co_lines() if line is not None}
    line, before = code.co_firstlineno, (code.co_firstlineno, "")
    for instruction in dis.get_instructions(code):
        line = lines.get(instruction.offset, line)
        found[instruction.offset] = before
        before = (line, str(instruction.argval))
    return found


def _line(summary: traceback.FrameSummary) -> str:
    return f"{summary.filename}:{summary.lineno} {summary.name}"
