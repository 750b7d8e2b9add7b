"""Read, work and store are one step under the cursor's lock."""

import posixpath
import threading
from typing import Any

from harness import Axes, Scenario


class Cursor:
    def __init__(self) -> None:
        self.path = "/"
        self.lock = threading.Lock()


def setup(axes: Axes) -> Cursor:
    return Cursor()


def down(cursor: Cursor) -> None:
    with cursor.lock:
        cursor.path = posixpath.join(cursor.path, "next")


def check(cursor: Cursor, results: list[Any]) -> None:
    depth = cursor.path.count("next")
    assert depth == len(results), f"{len(results)} steps, but {depth} folders down"


attribute_of_shared_object = Scenario(
    bodies=(down, down),
    setup=setup,
    check=check,
    summary="read, work and store under a lock",
)
