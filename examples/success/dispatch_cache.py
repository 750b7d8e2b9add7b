"""Calls that may fill the cache and registrations that empty it take turns."""

import functools
import threading
import weakref
from typing import Any

from harness import Axes, Scenario


def default(value: Any) -> str:
    return "default"


def old(value: int) -> str:
    return "old"


def new(value: int) -> str:
    return "new"


class Shared:
    def __init__(self, axes: Axes) -> None:
        self.describe = functools.singledispatch(default)
        self.describe.register(int, old)
        self.lock = threading.Lock()


def use(shared: Shared) -> None:
    with shared.lock:
        shared.describe(True)


def register(shared: Shared) -> None:
    with shared.lock:
        shared.describe.register(int, new)


def check(shared: Shared, results: list[Any]) -> None:
    assert shared.describe(True) == "new", "a new function is registered, and the old one is called"


dispatch_cache = Scenario(
    bodies=(use, register),
    setup=Shared,
    check=check,
    entries=(functools.__name__, weakref.__name__),
    summary="calls and registrations take turns",
)
