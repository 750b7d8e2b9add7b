"""Each thread has a pool of its own, gives it work and waits for the results."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness import Scenario


def square(n: int) -> int:
    return n * n


def work(shared: Any) -> list[int]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(square, (1, 2, 3)))


def check(shared: Any, results: list[Any]) -> None:
    assert results == [[1, 4, 9]] * len(results)


pool_of_workers = Scenario((work, work), check=check, threads=(2, 2), summary="pools that are not shared")
