"""Which frames Dynamo's hook was given in a run, and what became of them: an observer, nothing of the run is changed.

The hook hands a frame to ``CatchErrorsWrapper.__call__``, in torch 2.0 to ``catch_errors``. That function is watched as
points are: its start, and what it returns. A function put around it would be one more frame on the stack, and Dynamo
walks the stack: for the traces it keeps, for dispatch modes. Code that Dynamo made is known by ``output_codes``; such a
function starting is a frame that runs compiled, from the cache unless it was compiled just before. A function that
starts while the hook is set in its thread, and was not given, has been marked to be skipped before: that is seen where
torch tells which hook is set (not on 2.5).

All of this file is code of the controller's own: its functions are no places, and Dynamo's hook skips them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from harness.errors import UserError

from .borrow import locals_of

if TYPE_CHECKING:
    from .backends import Backend
    from .controller import Controller
    from .managed import Managed

#: What becomes of a frame. The first three are what the hook's callback answers; ``given``: it never did; ``begun``: it was
#: asked about a generator that goes on or is being closed, and what it answered is not looked at.
COMPILED, SKIPPED, RAISED, GIVEN, CACHED, MARKED = "compiled", "skipped", "raised", "given", "from cache", "marked"
BEGUN = "begun"


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
    """The back-end calls ``started`` at every function start of a thread under control; for ``callback``, which is
    Dynamo's, ``given`` and then ``answered`` or ``raised``."""

    def __init__(self, control: Controller) -> None:
        self.control = control
        self.seen: list[dict[str, Any]] = []  # as :class:`Seen`, which has Python code that would be a place
        self.callback: CodeType | None = None
        self._open: dict[int, list[tuple[dict[str, Any], CodeType]]] = {}  # by thread: given, and not answered
        self._next: dict[int, int] = {}  # thread index -> id of the code that it runs next, since the hook answered so
        self._made: Any = None
        self._hook: Any = None
        #: The hook calls the callback for generators that are being closed too, with an exception set (#96488, torch 2.0):
        #: a trace function that is then called for an instruction fails, and Python takes it away.
        self._for_any = False

    @contextmanager
    def recorded(self, backend: Backend | None) -> Iterator[None]:
        """For one run, in a process of its own. Nothing where Dynamo is not loaded."""
        convert = sys.modules.get("torch._dynamo.convert_frame")
        if convert is None or backend is None:
            yield
            return
        self._made = convert.output_codes
        self._hook = getattr(sys.modules["torch._C"]._dynamo.eval_frame, "get_eval_frame_callback", None)
        self.callback = _callback(convert)
        self._for_any = not hasattr(convert, "CatchErrorsWrapper")
        with backend.logging(self):
            yield

    def started(self, me: Managed, frame: FrameType) -> None:
        code = frame.f_code
        if self._next.get(me.index) == id(code):  # what the hook's answer leaves may run finalizers before
            del self._next[me.index]
            return
        if id(code) in self._made.seen_ids:
            self._note(me, CACHED, frame)
        elif self._hook is not None and callable(self._hook()):
            self._note(me, MARKED, frame)

    def given(self, me: Managed, frame: FrameType) -> bool:
        """``frame`` is the callback's own. False: it is not to be watched."""
        of = locals_of(frame, me)["frame"]
        if self._for_any and of.f_lasti >= 0:
            self._note(me, BEGUN, of)
            return False
        self._open.setdefault(me.index, []).append((self._note(me, GIVEN, of), of.f_code))
        return True

    def answered(self, me: Managed, answer: Any) -> None:
        seen, asked = self._open[me.index].pop()
        code = getattr(getattr(answer, "guarded_code", answer), "code", None)  # up to 2.5 the answer itself
        seen["what"], seen["until"] = SKIPPED if code is None else COMPILED, len(self.control.log)
        if code is None:
            seen["why"] = str(getattr(answer, "skip_reason", None) or "")
        self._next[me.index] = id(asked if code is None else code)

    def raised(self, me: Managed, kind: str) -> None:
        seen, _ = self._open[me.index].pop()
        seen["what"], seen["until"], seen["why"] = RAISED, len(self.control.log), kind

    def _note(self, me: Managed, what: str, frame: FrameType) -> dict[str, Any]:
        at, code = len(self.control.log), frame.f_code
        name = f"{frame.f_globals.get('__name__', '?')}.{getattr(code, 'co_qualname', code.co_name)}"
        seen = {
            "thread": me.name, "what": what, "function": name, "file": code.co_filename, "line": code.co_firstlineno,
            "at": at, "until": at, "why": "",
        }  # fmt: skip
        self.seen.append(seen)
        return seen


def _callback(convert: Any) -> CodeType:
    """What Dynamo's hook calls with a frame. Raises UserError where this torch has neither form of it."""
    wrapper = getattr(convert, "CatchErrorsWrapper", None)
    if wrapper is not None:
        return wrapper.__call__.__code__
    maker = getattr(sys.modules["torch._dynamo.eval_frame"], "catch_errors_wrapper", None)
    for const in maker.__code__.co_consts if maker is not None else ():
        if isinstance(const, CodeType):
            return const
    raise UserError("which frames Dynamo is given can't be told on this torch: its callback is not where it was")
