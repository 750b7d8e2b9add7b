"""Points by ``sys.monitoring``, for Python 3.12 and later.

Global events tell of function starts; code without sites answers the first with DISABLE and costs nothing
from then on, in forked children too. Code with sites gets local events. An INSTRUCTION event comes
*before* its instruction, so an access is armed there and reported at an instruction that can follow it,
in the same frame; all other instructions are disabled as they are met.

Where the GIL can be given up (see ``places``) shows as: PY_START and PY_RESUME; CALL of something written
in Python, which stands for the start of a function that may have no events; C_RETURN; JUMP. Between any
of these and the interpreter's own check there is nothing that another thread could see.

Events are per process and stay on between runs: threads outside a run find no record of theirs and leave
at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from .. import raw
from ..gives_up import may_start, released
from ..instrument import OURS
from ..places import Act, Kind
from . import tool
from .calls import calls, jumps
from .climb import Climb
from .frames_by_events import FrameEvents
from .local import Local, Thread, pass_points
from .tool import MONITORING

if TYPE_CHECKING:
    from ..controller import Controller
    from ..frames import Frames
    from ..instrument import Instruments
    from ..managed import Managed

_MISSING: Any = object()


class Monitoring:
    """The back-end of one world. The last one made has the events; entering with another takes them over."""

    def __init__(self, instruments: Instruments) -> None:
        self.instruments = instruments
        self.inside: dict[int, Thread] = {}
        self.local: dict[int, Local] = {}
        self._codes: list[CodeType] = []
        self.climb = Climb(self.local)
        self.tool = tool.take(self)
        self._log: FrameEvents | None = None

    def enter(self, controller: Controller, me: Managed) -> None:
        if tool.owner() is not self:
            self.tool = tool.take(self)
        self.inside[me.ident] = Thread(controller, me)
        if self._log is not None:
            self._log.inside[me.ident] = me

    def running(self, controller: Controller, me: Managed, frame: FrameType) -> None:
        at: FrameType | None = frame
        while at is not None:
            if id(at.f_code) not in self.local:
                self.known(at.f_code, at, self.inside[me.ident])
            at = at.f_back

    def leave(self, me: Managed) -> None:
        thread = self.inside.pop(me.ident, None)
        if thread is not None and thread.observer is not None and thread.armed is not None and sys.exc_info()[1] is not None:
            frame, act, _ = thread.armed
            if act.offset == frame.f_lasti:
                thread.observer.in_vain(me, act, frame)
        if self._log is not None:
            self._log.inside.pop(me.ident, None)

    @contextmanager
    def logging(self, frames: Frames) -> Iterator[None]:
        self._log = FrameEvents(frames)
        try:
            yield
        finally:
            self._log.close()
            self._log = None

    def activate(self, shared: Any) -> None:
        before = self.instruments.reach
        self.instruments.activate(shared)
        if self.instruments.reach is not before and tool.owner() is self:
            for code in self._codes:
                if id(code) not in self.instruments.by_id:
                    self.local.pop(id(code), None)
                    MONITORING.set_local_events(self.tool, code, 0)
            MONITORING.restart_events()  # code that was of no interest is asked about again

    # ---------------------------------------------------------------- used by ``tool``

    def callbacks(self) -> dict[int, Any]:
        of = MONITORING.events
        start, resume, throw = _starts(self)
        call, c_return, c_raise = calls(self)
        leaving, unwind = _leaving(self)
        return {
            of.PY_START: start, of.PY_RESUME: resume, of.PY_THROW: throw,
            of.CALL: call, of.C_RETURN: c_return, of.C_RAISE: c_raise,
            of.PY_RETURN: leaving, of.PY_YIELD: leaving, of.PY_UNWIND: unwind,
            of.JUMP: jumps(self), of.INSTRUCTION: _instruction(self),
        }  # fmt: skip

    def everywhere(self) -> int:
        """The global events. PY_UNWIND cannot be had for single code objects: only where it is needed."""
        of = MONITORING.events
        wanted = of.PY_START | of.PY_RESUME | of.PY_THROW
        if any(sites.exit for sites in self.instruments.table.codes.values()):
            wanted |= of.PY_UNWIND
        return wanted

    def released(self) -> None:
        """Another back-end takes the events over."""
        for code in self._codes:
            MONITORING.set_local_events(self.tool, code, 0)
        self.climb.stop(self.tool)
        self._codes.clear()
        self.local.clear()

    def known(self, code: CodeType, frame: FrameType, thread: Thread | None) -> Local | None:
        """Called for code that starts, until something is known of it: it gets its local events, or None."""
        instruments = self.instruments
        found = instruments.by_id.get(id(code), _MISSING)
        if found is _MISSING:
            found = instruments.resolve(code, frame, thread.me if thread is not None else None)
        if found is None or found is OURS:
            return None
        local = self.local[id(code)] = Local(found)
        self._codes.append(code)
        tool.watch(code, local.events)
        return local


def _starts(own: Monitoring) -> tuple[Any, Any, Any]:
    """PY_START and PY_RESUME, which are places; PY_THROW, which is not."""
    inside, local, get_ident, getframe = own.inside, own.local, raw.get_ident, sys._getframe
    disable = MONITORING.DISABLE

    def started(thread: Thread, found: Local, checks: bool, frame: FrameType) -> None:
        me = thread.me
        if me.muted:
            return
        thread.starts += 1
        if checks:
            me.places += 1
            if me.pending:
                thread.place(me)
        if found.told is not None:
            found.told(me, frame)
        if found.entry:
            pass_points(thread, found.entry, frame)
            if checks:
                thread.place(me)
        if me.pending:
            own.climb.watch(own.tool, frame)

    def on_start(code: CodeType, offset: int) -> Any:
        thread = inside.get(get_ident())
        found = local.get(id(code)) or own.known(code, getframe(1), thread)
        if found is None:
            if thread is not None and thread.me.pending and not thread.me.muted and own.instruments.by_id.get(id(code)) is not OURS:
                thread.place(thread.me)
            return disable if id(code) in own.instruments.by_id else None
        if thread is not None:
            started(thread, found, True, getframe(1))
        return None

    def on_resume(code: CodeType, offset: int) -> Any:
        thread = inside.get(get_ident())
        found = local.get(id(code)) or own.known(code, getframe(1), thread)
        if found is None:
            return disable
        if thread is not None:
            # the lowest two bits of RESUME: 0 a start, 1 behind yield, 2 yield from, 3 await
            started(thread, found, code.co_code[offset + 1] & 3 < 2, getframe(1))
        return None

    def on_throw(code: CodeType, offset: int, error: BaseException) -> None:
        thread = inside.get(get_ident())
        if thread is None:
            return
        found = local.get(id(code))
        if found is not None:
            started(thread, found, False, getframe(1))

    return on_start, on_resume, on_throw


def _instruction(own: Monitoring) -> Any:
    """Report what was armed in this frame, then arm."""
    inside, local, get_ident, getframe = own.inside, own.local, raw.get_ident, sys._getframe
    disable, missing = MONITORING.DISABLE, _MISSING

    def executed(thread: Thread, found: Local, done: Act, code: CodeType, frame: FrameType) -> None:
        me = thread.me
        if not found.fine:
            last, thread.last = thread.last, (code, done.offset, thread.starts)
            same = last[0] is code and last[2] == thread.starts
            if not same or found.place_between(last[1], done.offset):
                me.places += 1
        if done.kind is Kind.CALL:
            pass_points(thread, done.accesses, frame)
        elif done.kind is not Kind.NOTHING:
            pass_points(thread, done.points, frame, done.kind is Kind.ACCESS)
        if done.releases and done.operands is not None:
            released(me, done.operands, frame)
        if me.pending:
            own.climb.watch(own.tool, frame)

    def on_instruction(code: CodeType, offset: int) -> Any:
        found = local.get(id(code))
        if found is None:
            return disable
        act = found.watched.get(offset, missing)
        if act is missing:
            return disable
        thread = inside.get(get_ident())
        if thread is None:
            return None
        armed = thread.armed
        if armed is None and act is None:
            return None
        frame = getframe(1)
        if armed is not None:
            if armed[0] is not frame:
                thread.armed = armed = _still_on(armed, frame)
            if armed is not None and armed[0] is frame:
                thread.armed = armed[2]
                done = armed[1]
                if offset in done.follows:
                    executed(thread, found, done, code, frame)
        if act is not None:
            if act.before:
                pass_points(thread, act.before, frame, observed=False)
                if act.operands is not None and may_start(act.operands[1], frame, thread.me):
                    thread.me.places += 1  # of which we may see nothing
                if thread.me.pending:
                    MONITORING.restart_events()  # and which shall be a place: those told of no more are told of again
            if act.kind is not Kind.NOTHING or act.releases:
                thread.armed = (frame, act, thread.armed)
        return None

    return on_instruction


def _still_on(armed: Any, frame: FrameType) -> Any:
    """Drop what was armed in frames that ended with an exception: those above ``frame`` are its callers."""
    above: set[int] = set()
    at: FrameType | None = frame
    while at is not None:
        above.add(id(at))
        at = at.f_back
    while armed is not None and id(armed[0]) not in above:
        armed = armed[2]
    return armed


def _leaving(own: Monitoring) -> tuple[Any, Any]:
    """Declared states are written by the time a function ends, in whatever way."""
    inside, local, get_ident = own.inside, own.local, raw.get_ident

    def left(thread: Thread, found: Local | None, frame: FrameType) -> None:
        if found is not None and found.exit:
            pass_points(thread, found.exit, frame)
        if thread.me.pending and frame.f_back is not None:
            own.climb.watch(own.tool, frame.f_back)

    def on_return(code: CodeType, offset: int, value: Any) -> Any:
        thread = inside.get(get_ident())
        if thread is None:
            return None
        found = local.get(id(code))
        if (found is None or not found.fine) and not thread.me.pending:
            own.climb.no_more(own.tool, code)
        if thread.me.pending or (found is not None and found.exit):
            left(thread, found, sys._getframe(1))
        return None

    def on_unwind(code: CodeType, offset: int, error: BaseException) -> None:
        thread = inside.get(get_ident())
        if thread is None:
            return
        found = local.get(id(code))
        if thread.me.pending or (found is not None and found.exit):
            left(thread, found, sys._getframe(1))

    return on_return, on_unwind
