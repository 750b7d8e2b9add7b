"""Two threads look a name up in ``REGISTRY`` and enter it where it is missing.

``setdefault`` would do it in one step. Here what is to be entered is worked out between the look and the entry, by a
function of the standard library; a thread that looks meanwhile finds nothing, and each gets an entry of its own.
"""

import posixpath
from typing import Any

from harness import Axes, Scenario

REGISTRY: dict[str, list[str]] = {}


def setup(axes: Axes) -> None:
    REGISTRY.clear()


def entry(shared: None) -> int:
    if "a" not in REGISTRY:
        REGISTRY["a"] = [posixpath.join("home", "a")]
    REGISTRY["a"].append("used")
    return len(REGISTRY["a"])


def check(shared: None, results: list[Any]) -> None:
    assert len(REGISTRY["a"]) == 1 + len(results), f"{len(results)} uses, {len(REGISTRY['a']) - 1} recorded"


registry_filled_twice = Scenario(
    bodies=(entry, entry),
    setup=setup,
    check=check,
    summary="a look into a process-wide dictionary and the entry that follows from it are two steps",
)
