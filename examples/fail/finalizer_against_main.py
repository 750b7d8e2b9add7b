"""Every thread opens a ``Lease``, counts it in ``pool.used`` under ``pool.lock``, and drops it in a cycle.

``Lease.__del__`` counts down without the lock, in whatever thread the collector happens to run. If it runs
between another thread's read and write of ``used``, that write undoes it; the lock can't keep it out.
"""

import threading
from typing import Any

from harness import Axes, Scenario


class Pool:
    def __init__(self) -> None:
        self.used = 0
        self.closed = 0
        self.lock = threading.Lock()


class Lease:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.cycle = self

    def __del__(self) -> None:
        self.pool.used -= 1
        self.pool.closed += 1


def setup(axes: Axes) -> Pool:
    return Pool()


def use(pool: Pool) -> None:
    with pool.lock:
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
    summary="a finalizer run by the collector changes a count that is being updated",
)
