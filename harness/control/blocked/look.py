"""Called by main now and then: where the running thread is blocked in C, the others go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..managed import Status
from . import in_c

if TYPE_CHECKING:
    from ..controller import Controller


def look(control: Controller, looks: in_c.Looks) -> None:
    me = control.current
    if me is None or me.parked or not looks.blocked(me):
        return  # one that is parked is being given the baton, by a thread that may have to wait for the processor just now
    me.status = Status.IN_C
    me.where = in_c.where(me)
    control.uncontrolled.append(f"{me.name} blocked in C at {me.where}")
    ready = [other for other in control.threads if other.status is Status.READY]
    if ready:
        control.current = ready[0]
        ready[0].gate.open()
    elif not any(other.status is Status.BLOCKED and other.deadline for other in control.threads):
        control.stop_deadlocked()
