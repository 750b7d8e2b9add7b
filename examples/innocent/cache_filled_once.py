"""A cache filled by ``setdefault``, which is one step: whoever comes first, both get the same."""

import posixpath
from typing import Any

from harness import Axes, Scenario

CACHE: dict[str, list[str]] = {}


def setup(axes: Axes) -> None:
    CACHE.clear()


def entry(shared: Any) -> int:
    made = [posixpath.join("home", "a")]
    return len(CACHE.setdefault("a", made))


cache_filled_once = Scenario((entry, entry), setup=setup, sequential=True, summary="a cache filled in one step")
