"""Two threads go down one folder each, from ``cursor.path``.

The new path is worked out by a function of the standard library between the read and the store of the attribute. If
the other thread moves meanwhile, its step is lost. No call in this file ends in between: only the attribute shows it.
"""

import posixpath
from typing import Any

from harness import Axes, Scenario


class Cursor:
    def __init__(self) -> None:
        self.path = "/"


def setup(axes: Axes) -> Cursor:
    return Cursor()


def down(cursor: Cursor) -> None:
    cursor.path = posixpath.join(cursor.path, "next")


def check(cursor: Cursor, results: list[Any]) -> None:
    depth = cursor.path.count("next")
    assert depth == len(results), f"{len(results)} steps, but {depth} folders down"


attribute_of_shared_object = Scenario(
    bodies=(down, down),
    setup=setup,
    check=check,
    summary="an attribute is read, a library works on it, and it is stored",
)
