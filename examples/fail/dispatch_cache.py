"""A thread calls a ``functools.singledispatch`` function for a type while another registers a function for it.

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


def for_int(value: int) -> str:
    return "int"


def setup(axes: Axes) -> Any:
    return functools.singledispatch(default)


def use(describe: Any) -> None:
    describe(1)


def register(describe: Any) -> None:
    describe.register(int, for_int)


def check(describe: Any, results: list[Any]) -> None:
    assert describe(1) == "int", "a function for int is registered, and the default is called"


dispatch_cache = Scenario(
    bodies=(use, register),
    setup=setup,
    check=check,
    entries=(functools.__name__, weakref.__name__),
    summary="a cache is emptied between the making of an entry and its storing",
)
