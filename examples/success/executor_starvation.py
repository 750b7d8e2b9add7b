"""Every thread has ``inner`` and then ``outer`` computed by a pool of two workers.

The thread itself waits for ``inner`` and hands its answer to ``outer``: no task in ``desk.pool`` waits for
another one, so every worker becomes free again.
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


def outer(part: int) -> int:
    return part + 1


def ask(desk: Desk) -> int:
    part = desk.pool.submit(inner).result()
    answer = desk.pool.submit(outer, part).result()
    desk.finish.wait()
    return answer


def check(desk: Desk, results: list[Any]) -> None:
    assert results == [2] * len(results), f"every answer is 2, not {results}"


executor_starvation = Scenario(
    bodies=(ask, ask),
    setup=setup,
    check=check,
    summary="the callers of a pool wait, its tasks do not",
)
