"""Two threads save ``verbose``, switch it off for a while and put the saved value back.

``verbose`` is a context variable: every thread has its own, so no thread can save what another one set.
"""

from contextvars import ContextVar
from typing import Any

from harness import Axes, Scenario

verbose: ContextVar[bool] = ContextVar("verbose", default=True)


def setup(axes: Axes) -> None:
    verbose.set(True)


def work() -> bool:
    return verbose.get()


def quietly(shared: None) -> list[bool]:
    saved = verbose.set(False)
    try:
        during = work()
    finally:
        verbose.reset(saved)
    return [during, verbose.get()]


def check(shared: None, results: list[Any]) -> None:
    assert verbose.get() is True, "everybody restored verbose, but it was left at False"
    for during, after in results:
        assert not during, "another thread switched verbose on"
        assert after, "another thread left verbose off"


save_restore_global = Scenario(
    bodies=(quietly, quietly),
    setup=setup,
    check=check,
    summary="two overlapping save/set/restore of a context variable",
)
