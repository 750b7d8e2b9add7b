"""The thread that runs already, main of a program without a scenario, under control from here on."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING

from . import active, raw

if TYPE_CHECKING:
    from .controller import Controller
    from .managed import Managed


def attach(control: Controller, frame: FrameType) -> Managed:
    """The calling thread is the first under control; from ``frame`` on outwards its frames have points. Its end is
    :func:`detach`, and another thread has to :meth:`~harness.control.controller.Controller.watch`."""
    control.apart = control.attached = True
    me = control.current = control.add("T0", 0)
    me.ident, me.native_id = raw.get_ident(), raw.get_native_id()
    control.by_ident[me.ident] = me
    active.controller = control
    if control.backend is not None:
        control.backend.enter(control, me)
        control.backend.running(control, me, frame)
    return me


def detach(me: Managed) -> None:
    """The end of a thread that was attached: the others are left where they are, if it was the last body."""
    control = me.controller
    if control.current is not me:
        control.rejoin(me)
    if control.backend is not None:
        control.backend.leave(me)
    control.end(me)
