"""Every thread opens a ``Lease``, counts it in ``pool.used`` under ``pool.lock``, and drops it in a cycle.

``Lease.__del__`` only leaves a note in ``pool.notes``, whose append is one step and needs no lock. The next
thread that holds ``pool.lock`` counts the notes down, at a moment of its own choice.
"""

import threading
from collections import deque
from typing import Any

from harness import Axes, Scenario


class Pool:
    def __init__(self) -> None:
        self.used = 0
        self.closed = 0
        self.notes: deque[str] = deque()
        self.lock = threading.Lock()


class Lease:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.cycle = self

    def __del__(self) -> None:
        self.pool.notes.append("closed")


def setup(axes: Axes) -> Pool:
    return Pool()


def count_down(pool: Pool) -> None:
    while pool.notes:
        pool.notes.popleft()
        pool.used -= 1
        pool.closed += 1


def use(pool: Pool) -> None:
    with pool.lock:
        count_down(pool)
        used = pool.used
        lease = Lease(pool)
        pool.used = used + 1
    del lease


def check(pool: Pool, results: list[Any]) -> None:
    opened = len(results)
    assert pool.used + pool.closed == opened, (
        f"{opened} leases opened, {pool.closed} closed, but {pool.used} counted as used"
    )


finalizer_against_main = Scenario(
    bodies=(use, use),
    setup=setup,
    check=check,
    summary="a finalizer run by the collector leaves a note for the next owner of the lock",
)
