"""``Condition.notify``: where nobody waits it is lost, which a later deadlock tells of."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from . import active
from .locks import site

if TYPE_CHECKING:
    from .record import Record

_notify = threading.Condition.notify


def notify(self: Any, n: int = 1) -> None:
    lost = not self._waiters
    _notify(self, n)  # raises where the lock is not held
    me = active.managed()
    if me is not None and lost:
        me.controller.unheard[id(self)] = weakref.ref(self), f"{me.name} gave one at {site.using(1)[1]}"


def unheard(control: Record, lock: Any) -> str:
    """Of the condition that a thread waits at with ``lock``: the last notify that nobody heard; empty where there was none."""
    for reference, told in control.unheard.values():
        condition = reference()
        if condition is not None and any(waiter is lock for waiter in condition._waiters):
            return f"{told}, when nobody waited"
    return ""
