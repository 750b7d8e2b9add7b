"""Two threads add one to ``counter.value``.

The read, the call of ``successor`` and the store happen under ``counter.lock``, so no thread stores a value
that another has already replaced.
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


def successor(value: int) -> int:
    return value + 1


def add(counter: Counter) -> None:
    with counter.lock:
        seen = counter.value
        counter.value = successor(seen)


def check(counter: Counter, results: list[Any]) -> None:
    assert counter.value == len(results), f"{len(results)} additions, but counter.value is {counter.value}"


lost_update = Scenario(
    bodies=(add, add),
    setup=setup,
    check=check,
    summary="additions under a lock, with a call between the read and the write",
)
