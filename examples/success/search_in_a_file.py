"""The file is searched first, and the addition is made in one go after it."""

from typing import Any

from harness import Axes, Scenario

LINE = b"from typing import Any\n"


class Counter:
    def __init__(self, axes: Axes) -> None:
        self.found = 0


def count(counter: Counter) -> None:
    file = open(__file__, "rb")  # noqa: SIM115
    found = LINE in file
    counter.found += found
    file.close()


def check(counter: Counter, results: list[Any]) -> None:
    assert counter.found == len(results), f"{len(results)} searches of one file, {counter.found} found it"


search_in_a_file = Scenario(
    bodies=(count, count),
    setup=Counter,
    check=check,
    summary="search first, then add with nothing in between",
)
