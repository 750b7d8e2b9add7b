"""Two threads want the last entry of ``office.tickets``.

The question for its length and the pop happen under ``office.lock``, so the answer still holds at the pop.
"""

import threading
from typing import Any

from harness import Axes, Scenario


class Office:
    def __init__(self) -> None:
        self.tickets = ["last"]
        self.lock = threading.Lock()


def setup(axes: Axes) -> Office:
    return Office()


def buy(office: Office) -> str:
    with office.lock:
        if len(office.tickets) > 0:
            return office.tickets.pop()
    return "sold out"


def check(office: Office, results: list[Any]) -> None:
    sold = results.count("last")
    assert sold == 1, f"one ticket, sold {sold} times"


check_then_act = Scenario(
    bodies=(buy, buy),
    setup=setup,
    check=check,
    summary="check and act under one lock",
)
