"""A producer puts jobs and a sentinel into a queue, a consumer adds them up."""

import queue
from typing import Any

from harness import Axes, Scenario


def setup(axes: Axes) -> "queue.Queue[int | None]":
    return queue.Queue(maxsize=1)


def produce(jobs: "queue.Queue[int | None]") -> None:
    for job in (1, 2, 3):
        jobs.put(job)
    jobs.put(None)


def consume(jobs: "queue.Queue[int | None]") -> int:
    total = 0
    while (job := jobs.get()) is not None:
        total += job
    return total


def check(jobs: Any, results: list[Any]) -> None:
    assert results[1] == 6


queue_of_jobs = Scenario((produce, consume), setup=setup, check=check, threads=(2, 2), summary="a queue with a sentinel")
