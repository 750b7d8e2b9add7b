"""One thread starts generator ``draft`` and drops it in a cycle; the other needs ``desk.mode`` "final".

The generator is closed while ``desk.lock`` is still held, so its ``finally`` has run by the time it is
dropped and nothing is left for the collector to run.
"""

import threading
from collections.abc import Generator
from typing import Any

from harness import Axes, Scenario


class Desk:
    def __init__(self) -> None:
        self.mode = "idle"
        self.lock = threading.Lock()


def setup(axes: Axes) -> Desk:
    return Desk()


def draft(desk: Desk, cycle: list[Any]) -> Generator[str, None, None]:
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
        try:
            return next(pages)
        finally:
            pages.close()


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
    summary="a generator is closed before it is dropped",
)
