"""A reader waits on ``box.changed`` until a writer has put a value into ``box.slot``.

The reader looks into ``slot`` in a loop and holds the condition while it looks, so the writer can store and
notify only before the look or during the wait.
"""

import threading
from typing import Any

from harness import Axes, Scenario


class Box:
    def __init__(self) -> None:
        self.slot: dict[str, int] = {}
        self.changed = threading.Condition()


def setup(axes: Axes) -> Box:
    return Box()


def read(box: Box) -> int:
    with box.changed:
        while box.slot.get("value") is None:
            box.changed.wait()
        return box.slot["value"]


def write(box: Box) -> None:
    with box.changed:
        box.slot["value"] = 7
        box.changed.notify_all()


def check(box: Box, results: list[Any]) -> None:
    read_values = results[0::2]
    assert read_values == [7] * len(read_values), f"written 7, read {read_values}"


missed_notify = Scenario(
    bodies=(read, write),
    setup=setup,
    check=check,
    summary="the predicate is looked at in a loop, with the condition held",
)
