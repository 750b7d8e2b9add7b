"""A count under a lock: read, call and store are one step."""

import threading

from harness import Axes, Scenario


class Counter:
    def __init__(self, axes: Axes) -> None:
        self.value = 0
        self.lock = threading.Lock()


def step(value: int) -> int:
    return value + 1


def add(counter: Counter) -> None:
    with counter.lock:
        counter.value = step(counter.value)


locked_counter = Scenario(bodies=(add, add), setup=Counter, sequential=True, summary="a count under a lock")
