"""One thread looks up "logo" in the weak ``shelf.cache`` while the other drops its owner, ``shelf.images``.

An image is in a cycle with itself, so its entry stays until the collector takes it. The reader asks whether
the entry is there and then fetches it. If a collection comes in between, the fetch raises KeyError.
"""

import weakref
from typing import Any

from harness import Axes, Scenario


class Image:
    size = 3

    def __init__(self) -> None:
        self.original = self


class Shelf:
    def __init__(self) -> None:
        self.images = [Image()]
        self.cache: weakref.WeakValueDictionary[str, Image] = weakref.WeakValueDictionary()
        self.cache["logo"] = self.images[0]


def setup(axes: Axes) -> Shelf:
    return Shelf()


def fetch(shelf: Shelf, name: str) -> Image:
    return shelf.cache[name]


def look_up(shelf: Shelf) -> int:
    if "logo" in shelf.cache:
        return fetch(shelf, "logo").size
    return 0


def drop(shelf: Shelf) -> None:
    shelf.images.clear()


def check(shelf: Shelf, results: list[Any]) -> None:
    for size in results[0::2]:
        assert size in (0, 3), f"the size is 3, or 0 for a missing image, not {size}"


weakref_cache = Scenario(
    bodies=(look_up, drop),
    setup=setup,
    check=check,
    summary="the collector takes a weak cache entry between the check and the use",
)
