"""Two threads add one to ``counter.value``, with no call between the read and the store.

The addition is lost if the other thread adds between the two. Under the GIL of CPython 3.10 and later nothing
lets it: the interpreter changes threads only at calls and backward jumps. In free mode it happens.
"""

from typing import Any

from harness import Axes, Scenario


class Counter:
    def __init__(self) -> None:
        self.value = 0


def setup(axes: Axes) -> Counter:
    return Counter()


def add(counter: Counter) -> None:
    seen = counter.value
    counter.value = seen + 1


def check(counter: Counter, results: list[Any]) -> None:
    assert counter.value == len(results), f"{len(results)} additions, but counter.value is {counter.value}"


unrealizable_update = Scenario(
    bodies=(add, add),
    setup=setup,
    check=check,
    summary="an addition is lost between a read and a write with nothing in between: only without the GIL",
)
