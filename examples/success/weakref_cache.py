"""One thread looks up "logo" in the weak ``shelf.cache`` while the other drops its owner, ``shelf.images``.

An image is in a cycle with itself, so its entry stays until the collector takes it. The reader fetches once
with ``get`` and tests what it got: from then on ``image`` itself keeps it alive.
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


def fetch(shelf: Shelf, name: str) -> Image | None:
    return shelf.cache.get(name)


def look_up(shelf: Shelf) -> int:
    image = fetch(shelf, "logo")
    if image is not None:
        return image.size
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
    summary="a weak cache entry is fetched once and then held",
)
