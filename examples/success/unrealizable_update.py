"""Two threads add one to ``counter.value``, with no call between the read and the store.

Both happen under ``counter.lock``, so the addition is right with and without the GIL.
"""

import threading
from typing import Any

from harness import Axes, Scenario


class Counter:
    def __init__(self) -> None:
        self.value = 0
        self.lock = threading.Lock()


def setup(axes: Axes) -> Counter:
    return Counter()


def add(counter: Counter) -> None:
    with counter.lock:
        seen = counter.value
        counter.value = seen + 1


def check(counter: Counter, results: list[Any]) -> None:
    assert counter.value == len(results), f"{len(results)} additions, but counter.value is {counter.value}"


unrealizable_update = Scenario(
    bodies=(add, add),
    setup=setup,
    check=check,
    summary="an addition under a lock, right with and without the GIL",
)
