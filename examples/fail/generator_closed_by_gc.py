"""One thread starts generator ``draft`` and drops it in a cycle; the other needs ``desk.mode`` "final".

Both hold ``desk.lock`` when they set ``mode``. The ``finally`` of the dropped ``draft`` runs when the
collector finds it; if that is after the other thread set ``mode``, that thread goes on in mode "idle".
"""

import threading
from collections.abc import Iterator
from typing import Any

from harness import Axes, Scenario


class Desk:
    def __init__(self) -> None:
        self.mode = "idle"
        self.lock = threading.Lock()


def setup(axes: Axes) -> Desk:
    return Desk()


def draft(desk: Desk, cycle: list[Any]) -> Iterator[str]:
    desk.mode = "draft"
    try:
        yield desk.mode
    finally:
        desk.mode = "idle"


def sketch(desk: Desk) -> str:
    cycle: list[Any] = []
    pages = draft(desk, cycle)
    cycle.append(pages)
    with desk.lock:
        return next(pages)


def stamp(desk: Desk) -> str:
    return desk.mode


def publish(desk: Desk) -> str:
    with desk.lock:
        desk.mode = "final"
        return stamp(desk)


def check(desk: Desk, results: list[Any]) -> None:
    for mode in results[1::2]:
        assert mode == "final", f"published in mode {mode!r}, with the lock held"


generator_closed_by_gc = Scenario(
    bodies=(sketch, publish),
    setup=setup,
    check=check,
    summary="the collector closes a generator, whose finally resets a state in use",
)
