"""Two threads count in ``counter.found`` in how many files a line occurs.

``LINE in file`` is a call neither of a function nor in the bytecode, but it reads the file, and reading gives up the GIL:
the other thread may run between the read of ``found`` and its store.
"""

from typing import Any

from harness import Axes, Scenario

LINE = b"from typing import Any\n"


class Counter:
    def __init__(self, axes: Axes) -> None:
        self.found = 0


def count(counter: Counter) -> None:
    file = open(__file__, "rb")  # noqa: SIM115
    before = counter.found
    counter.found = before + (LINE in file)
    file.close()


def check(counter: Counter, results: list[Any]) -> None:
    assert counter.found == len(results), f"{len(results)} searches of one file, {counter.found} found it"


search_in_a_file = Scenario(
    bodies=(count, count),
    setup=Counter,
    check=check,
    summary="an addition is lost while a search reads a file",
)
