"""Which frames Dynamo's hook was given in a run, and what became of them: an observer, nothing of the run is changed.

The hook hands a frame to a ``CatchErrorsWrapper`` (every release from 2.5 to 2.15): that call is noted with what it
returned. Code that Dynamo made is known by ``output_codes``; such a function starting is a frame that runs compiled,
from the cache unless it was compiled just before. A function that starts while the hook is set in its thread, and was not
given, has been marked to be skipped before: that is seen where torch tells which hook is set (not on 2.5).

All of this file is code of the controller's own: its functions are no places, and Dynamo's hook skips them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from . import active

if TYPE_CHECKING:
    from .controller import Controller
    from .managed import Managed

#: What becomes of a frame. The first three are what the hook's callback answers; ``given``: it never did.
COMPILED, SKIPPED, RAISED, GIVEN, CACHED, MARKED = "compiled", "skipped", "raised", "given", "from cache", "marked"


@dataclass
class Seen:
    """One frame.

    what       one of the above
    at, until  length of the log when the hook was given it, and when it answered (equal for the last two kinds)
    why        for ``skipped`` and ``raised``, where that is told
    """

    thread: str
    what: str
    function: str
    file: str
    line: int
    at: int
    until: int
    why: str = ""


class Frames:
    """``started`` is called by the back-end at every function start of a thread under control."""

    def __init__(self, control: Controller) -> None:
        self.control = control
        self.seen: list[dict[str, Any]] = []  # as :class:`Seen`, which has Python code that would be a place
        self._next: dict[int, int] = {}  # thread index -> id of the code that it runs next, since the hook answered so
        self._made: Any = ()
        self._hook: Any = None

    def started(self, me: Managed, frame: FrameType) -> None:
        code = frame.f_code
        if self._next.get(me.index) == id(code):  # what the hook's answer leaves may run finalizers before
            del self._next[me.index]
            return
        if self._is_made(code):
            self._note(me, CACHED, frame)
        elif self._hook is not None and callable(self._hook()):
            self._note(me, MARKED, frame)

    def _is_made(self, code: CodeType) -> bool:
        return id(code) in self._made.seen_ids if self._made else False

    def _note(self, me: Managed, what: str, frame: FrameType) -> dict[str, Any]:
        at, code = len(self.control.log), frame.f_code
        name = f"{frame.f_globals.get('__name__', '?')}.{getattr(code, 'co_qualname', code.co_name)}"
        seen = {
            "thread": me.name, "what": what, "function": name, "file": code.co_filename, "line": code.co_firstlineno,
            "at": at, "until": at, "why": "",
        }  # fmt: skip
        self.seen.append(seen)
        return seen

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """For one run, in a process of its own. Nothing where Dynamo is not loaded."""
        convert = sys.modules.get("torch._dynamo.convert_frame")
        if convert is None:
            yield
            return
        self._made = convert.output_codes
        self._hook = getattr(sys.modules["torch._C._dynamo.eval_frame"], "get_eval_frame_callback", None)
        wrapper = convert.CatchErrorsWrapper
        original = wrapper.__call__
        wrapper.__call__ = _noting(self, original)
        try:
            yield
        finally:
            wrapper.__call__ = original


def _noting(frames: Frames, original: Any) -> Any:
    def __call__(callback: Any, frame: Any, *rest: Any) -> Any:
        me = active.managed()
        if me is None or me.controller is not frames.control:
            return original(callback, frame, *rest)
        seen = frames._note(me, GIVEN, frame)
        try:
            answer = original(callback, frame, *rest)
        except BaseException as error:
            seen["what"], seen["why"] = RAISED, type(error).__name__
            raise
        finally:
            seen["until"] = len(frames.control.log)
        made = getattr(answer, "guarded_code", answer)  # up to 2.5 the answer itself
        code = getattr(made, "code", None)
        seen["what"] = SKIPPED if code is None else COMPILED
        if code is None:
            seen["why"] = str(getattr(answer, "skip_reason", None) or "")
        frames._next[me.index] = id(frame.f_code if code is None else code)
        return answer

    return __call__
