"""Garbage collection as a decision: off in a run, on demand at a point, with a record of what it ran."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import collector
from .finalizers import Finalizers

if TYPE_CHECKING:
    from .managed import Managed
    from .record import Record

FULL = 2
_COLLECTOR = -1  # in place of a body's index: what a collection runs is a thread's affair by chance only


@dataclass
class Collection:
    """One directed collection.

    thread      who ran it, after its ``n``-th passing of ``point``, or later: ``waited_for``
    at, until   length of the log when it began and when it ended (-1: it has not); points in between were passed by
                what it ran, or by threads that this handed over to
    found       unreachable objects it saw
    ran         the program's code that it ran, in order: see :mod:`harness.control.finalizers`
    waited_for  thread that put the collector on again, where the program had it off at the point; else empty
    """

    thread: str
    point: str
    n: int
    generation: int
    at: int
    until: int = -1
    found: int = 0
    ran: list[dict[str, Any]] = field(default_factory=list)
    waited_for: str = ""


def directed(control: Record, me: Managed, point: str, n: int, generation: int) -> None:
    """Collect at a point, in ``me``, and note in ``control.collections`` what that did."""
    made = Collection(me.name, point, n, generation, len(control.log))
    if collector.isenabled():
        perform(control, me, made)
    else:
        control.postponed.append(made)


def perform(control: Record, me: Managed, made: Collection) -> None:
    """Now, in ``me``."""
    control.collections.append(made)
    if control.isolation is not None:
        control.isolation.switch(me.root, _COLLECTOR)
    # What finalizers run is seen while the callback of the interrupted frame has yet to return: its locals stay.
    borrowed, me.borrowed = me.borrowed, []
    made.found = now(made.generation, made.ran)
    me.borrowed += borrowed
    if control.isolation is not None:
        control.isolation.switch(_COLLECTOR, me.root)
    made.until = len(control.log)


def full_ones() -> int:
    """How many full collections this process has made."""
    return int(gc.get_stats()[FULL]["collections"])


def now(generation: int, ran: list[dict[str, Any]]) -> int:
    """The number of unreachable objects; what they and their callbacks ran is appended to ``ran``."""
    # Finalizers are real code: let their points be seen although a trace callback may be running.
    return int(sys.call_tracing(_collect, (generation, Finalizers(generation, ran))))


def _collect(generation: int, notes: Finalizers) -> int:
    prior = sys.getprofile()
    notes.base = sys._getframe()
    sys.setprofile(notes)  # in here also what makes Python 3.11 trace again: call_tracing alone does not
    try:
        return gc.collect(generation)
    finally:
        sys.setprofile(prior)
        notes.base = None
