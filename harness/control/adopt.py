"""A thread that C code started, autograd's say, under control while it runs Python.

Nothing tells us of its birth. The thread that waits for it, in C, has the baton; the new one takes it over and, when it is
done, gives it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from . import active, raw
from .blocked import in_c
from .managed import Managed, Status

if TYPE_CHECKING:
    from .controller import Controller


@contextmanager
def adopted() -> Iterator[None]:
    """Around the Python code that such a thread runs. Nothing in a thread that is under control already, or in no run."""
    control = active.controller
    if control is None or active.managed() is not None or control.current is None:
        yield
        return
    me = _take_over(control, raw.get_ident(), raw.get_native_id())
    if control.backend is not None:
        control.backend.enter(control, me)
    try:
        yield
    finally:
        if control.backend is not None:
            control.backend.leave(me)
        _hand_back(control, me)


def _take_over(control: Controller, ident: int, native_id: int) -> Managed:
    """The calling thread goes on in place of the one that waits for it in C."""
    away = [other for other in control.threads if other.status is Status.IN_C]
    parent = away[0] if away else control.current
    assert parent is not None
    me = control.child_of(parent)
    me.acts_for = parent.acts_for
    me.ident, me.native_id = ident, native_id
    control.by_ident[ident] = me
    parent.status, parent.waiting, parent.blocked_name = Status.BLOCKED, me, "a thread of C code"
    parent.where = in_c.where(parent)
    if away:
        control.rejoin(me)
    else:
        control.current = me
    return me


def _hand_back(control: Controller, me: Managed) -> None:
    """Its parent comes back from C by itself."""
    if control.current is not me:
        control.rejoin(me)
    control.by_ident.pop(me.ident, None)
    me.status = Status.ENDED
    parent = next(other for other in control.threads if other.waiting is me)
    control.wake(me)
    control.current = parent
