"""Two threads save ``verbose``, switch it off for a while and put the saved value back.

If the second thread saves while the first has it off, and the first restores before the second does, the
second puts back the False it saved: ``verbose`` stays off for good.
"""

from typing import Any

from harness import Axes, Scenario

verbose = True


def setup(axes: Axes) -> None:
    global verbose
    verbose = True


def work() -> int:
    return 1


def quietly(shared: None) -> int:
    global verbose
    saved = verbose
    verbose = False
    try:
        return work()
    finally:
        verbose = saved


def check(shared: None, results: list[Any]) -> None:
    assert verbose is True, "everybody restored verbose, but it was left at False"


save_restore_global = Scenario(
    bodies=(quietly, quietly),
    setup=setup,
    check=check,
    summary="two overlapping save/set/restore of a global leave it changed, first in, first out",
)
