"""The collector's switch as the program sees it, while collections are the schedule's.

Python's own switch is off all through a run. ``gc.disable`` and ``gc.enable`` still mean what they say: a collection
that the schedule puts where the program has it off waits, and takes place where the program puts it on again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from . import active

really_on, _really_enable, _really_disable = gc.isenabled, gc.enable, gc.disable
_depth = 0
_on = True


@contextmanager
def on_demand_only() -> Iterator[None]:
    """No automatic collection; what was planted before the run stays where it is. Afterwards all is as it was."""
    global _depth, _on
    was = _on = isenabled()
    _depth += 1
    _really_disable()
    try:
        yield
    finally:
        _depth -= 1
        _on = was
        if not _depth and was:
            _really_enable()


def never_by_itself() -> None:
    """From here to the end of this process and its children. What the program says of it is remembered."""
    on_demand_only().__enter__()


def isenabled() -> bool:
    """As :func:`gc.isenabled`: what the program asked for last."""
    return _on if _depth else really_on()


def disable() -> None:
    """As :func:`gc.disable`."""
    global _on
    if _depth:
        _on = False
    else:
        _really_disable()


def enable() -> None:
    """As :func:`gc.enable`; a collection that waits for it takes place now, in the calling thread."""
    global _on
    if not _depth:
        _really_enable()
        return
    _on = True
    me = active.managed()
    if me is not None:
        me.controller.collect_postponed(me)
