"""The look into ``REGISTRY`` and the entry are one step under a lock."""

import posixpath
import threading
from typing import Any

from harness import Axes, Scenario

REGISTRY: dict[str, list[str]] = {}


def setup(axes: Axes) -> Any:
    REGISTRY.clear()
    return threading.Lock()


def entry(lock: Any) -> int:
    with lock:
        if "a" not in REGISTRY:
            REGISTRY["a"] = [posixpath.join("home", "a")]
        REGISTRY["a"].append("used")
        return len(REGISTRY["a"])


def check(lock: Any, results: list[Any]) -> None:
    assert len(REGISTRY["a"]) == 1 + len(results), f"{len(results)} uses, {len(REGISTRY['a']) - 1} recorded"


registry_filled_twice = Scenario(
    bodies=(entry, entry),
    setup=setup,
    check=check,
    summary="look and entry are one step under a lock",
)
