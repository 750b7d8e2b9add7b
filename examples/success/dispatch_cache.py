"""Calls that may fill the cache and registrations that empty it take turns."""

import functools
import threading
import weakref
from typing import Any

from harness import Axes, Scenario


def default(value: Any) -> str:
    return "default"


def for_int(value: int) -> str:
    return "int"


class Shared:
    def __init__(self, axes: Axes) -> None:
        self.describe = functools.singledispatch(default)
        self.lock = threading.Lock()


def use(shared: Shared) -> None:
    with shared.lock:
        shared.describe(1)


def register(shared: Shared) -> None:
    with shared.lock:
        shared.describe.register(int, for_int)


def check(shared: Shared, results: list[Any]) -> None:
    assert shared.describe(1) == "int", "a function for int is registered, and the default is called"


dispatch_cache = Scenario(
    bodies=(use, register),
    setup=Shared,
    check=check,
    entries=(functools.__name__, weakref.__name__),
    summary="calls and registrations take turns",
)
