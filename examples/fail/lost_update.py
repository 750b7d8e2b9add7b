"""Two threads add one to ``counter.value``.

Each reads it, calls ``successor`` and stores the answer. If the other thread adds between the read and the
store, the store puts an old value back and one addition is gone.
"""

from typing import Any

from harness import Axes, Scenario


class Counter:
    def __init__(self) -> None:
        self.value = 0


def setup(axes: Axes) -> Counter:
    return Counter()


def successor(value: int) -> int:
    return value + 1


def add(counter: Counter) -> None:
    seen = counter.value
    counter.value = successor(seen)


def check(counter: Counter, results: list[Any]) -> None:
    assert counter.value == len(results), f"{len(results)} additions, but counter.value is {counter.value}"


lost_update = Scenario(
    bodies=(add, add),
    setup=setup,
    check=check,
    summary="an addition is lost between a read and a write with a call in between",
)
