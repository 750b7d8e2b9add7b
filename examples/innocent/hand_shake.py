"""One thread waits for an event and reads what the other stored before setting it."""

import threading
from typing import Any

from harness import Axes, Scenario


class Shared:
    def __init__(self, axes: Axes) -> None:
        self.ready = threading.Event()
        self.value = 0


def give(shared: Shared) -> None:
    shared.value = 7
    shared.ready.set()


def take(shared: Shared) -> int:
    shared.ready.wait()
    return shared.value


def check(shared: Any, results: list[Any]) -> None:
    assert results[1] == 7


hand_shake = Scenario((give, take), setup=Shared, check=check, threads=(2, 2), summary="an event between store and read")
