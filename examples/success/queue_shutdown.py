"""One thread puts a job into ``channel.jobs`` unless ``channel.closed``; the other closes and drains it.

Looking at ``closed`` and putting the job happen under ``channel.gate``, and so do setting ``closed`` and
putting the sentinel: no job can come behind the sentinel.
"""

import queue
import threading
from typing import Any

from harness import Axes, Scenario


class Channel:
    def __init__(self) -> None:
        self.jobs: queue.Queue[str | None] = queue.Queue()
        self.closed = False
        self.gate = threading.Lock()


def setup(axes: Axes) -> Channel:
    return Channel()


def make_job() -> str:
    return "job"


def produce(channel: Channel) -> int:
    with channel.gate:
        if channel.closed:
            return 0
        channel.jobs.put(make_job())
    return 1


def close_and_drain(channel: Channel) -> int:
    with channel.gate:
        channel.closed = True
        channel.jobs.put(None)
    taken = 0
    while channel.jobs.get() is not None:
        taken += 1
    return taken


def check(channel: Channel, results: list[Any]) -> None:
    accepted, taken = sum(results[0::2]), sum(results[1::2])
    assert accepted == taken, f"{accepted} jobs accepted, {taken} taken"


queue_shutdown = Scenario(
    bodies=(produce, close_and_drain),
    setup=setup,
    check=check,
    summary="a queue is closed and fed under one lock",
)
