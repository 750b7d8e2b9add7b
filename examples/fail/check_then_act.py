"""Two threads want the last entry of ``tickets``.

Each asks for ``len(tickets)`` and pops if there is one. If the other thread pops after the answer, the list
is empty by the time of the pop, which raises IndexError.
"""

from typing import Any

from harness import Axes, Scenario


def setup(axes: Axes) -> list[str]:
    return ["last"]


def buy(tickets: list[str]) -> str:
    if len(tickets) > 0:
        return tickets.pop()
    return "sold out"


def check(tickets: list[str], results: list[Any]) -> None:
    sold = results.count("last")
    assert sold == 1, f"one ticket, sold {sold} times"


check_then_act = Scenario(
    bodies=(buy, buy),
    setup=setup,
    check=check,
    summary="the answer of a check is out of date when it is acted upon",
)
