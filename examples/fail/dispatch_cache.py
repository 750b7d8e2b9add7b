"""A thread calls a ``functools.singledispatch`` function for a bool while another registers a new function for int.

``dispatch`` works out the old function, ``register`` empties the cache, and ``dispatch`` then enters the old function
there: it is called from then on. Cache and registry are variables of a closure, which nothing reaches by name: only the
starts of the library's functions show where to hand over.
"""

import functools
import weakref
from typing import Any

from harness import Axes, Scenario


def default(value: Any) -> str:
    return "default"


def old(value: int) -> str:
    return "old"


def new(value: int) -> str:
    return "new"


def setup(axes: Axes) -> Any:
    describe = functools.singledispatch(default)
    describe.register(int, old)
    return describe


def use(describe: Any) -> None:
    describe(True)


def register(describe: Any) -> None:
    describe.register(int, new)


def check(describe: Any, results: list[Any]) -> None:
    assert describe(True) == "new", "a new function is registered, and the old one is called"


dispatch_cache = Scenario(
    bodies=(use, register),
    setup=setup,
    check=check,
    entries=(functools.__name__, weakref.__name__),
    summary="a cache is emptied between the making of an entry and its storing",
)
