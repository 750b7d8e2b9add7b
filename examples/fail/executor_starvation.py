"""Every thread submits ``outer`` to a pool of two workers; ``outer`` submits ``inner`` and waits for it.

If two ``outer`` run at the same time, they hold both workers: each waits for its ``inner``, which waits in
``desk.pool`` for a worker.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness import Axes, Scenario


class Desk:
    def __init__(self, threads: int) -> None:
        self.pool = ThreadPoolExecutor(max_workers=2)
        self.finish = threading.Barrier(threads, action=self.pool.shutdown)


def setup(axes: Axes) -> Desk:
    return Desk(axes["threads"])


def inner() -> int:
    return 1


def outer(pool: ThreadPoolExecutor) -> int:
    return pool.submit(inner).result() + 1


def ask(desk: Desk) -> int:
    answer = desk.pool.submit(outer, desk.pool).result()
    desk.finish.wait()
    return answer


def check(desk: Desk, results: list[Any]) -> None:
    assert results == [2] * len(results), f"every answer is 2, not {results}"


executor_starvation = Scenario(
    bodies=(ask, ask),
    setup=setup,
    check=check,
    summary="the tasks of a pool wait for tasks of the same pool",
)
