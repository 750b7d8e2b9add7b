"""Time under control: it stands still, and jumps when nobody else can run."""

from __future__ import annotations

from . import active, raw

_TICK = 1e-6  # a loop that only asks for the time must see it move


def monotonic() -> float:
    me = active.managed()
    if me is None:
        return raw.monotonic()
    me.controller.clock += _TICK
    return me.controller.clock


class _Sleep:
    title = "the end of its sleep"


def sleep(seconds: float) -> None:
    me = active.managed()
    if me is None:
        raw.sleep(seconds)
        return
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    me.controller.block(me, _Sleep(), "time.sleep", "time.sleep", seconds)
