"""The first schedules of a search, before anything is known of the program: change threads at every point, then at random.

Small programs with a wide window fail under the first of them. A random walk is what most tools begin with; where points
are many it is the weakest (Sen, "Effective Random Testing of Concurrent Programs", ASE 2007), and so it gets two schedules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from harness.control.actions import Action, HandOver
from harness.control.managed import Managed, Status
from harness.schedule.schedule import Schedule

from .strategy import Proposal

NAME = "walk"
_STAYS = (0, 50)  # per cent: how often the running thread goes on


def walks(base: Schedule, random: Random) -> list[Proposal]:
    """Two schedules: a change at every point, and one at every second on average."""
    made = []
    for stay in _STAYS:
        online = {"kind": NAME, "seed": random.getrandbits(31), "stay": stay}
        first = random.randrange(base.threads)
        made.append(Proposal(replace(base, first=first, directives=()), NAME, online))
    return made


class WalkDecider:
    """``stay`` per cent of the points change nothing; elsewhere the next thread is drawn among those that can run."""

    def __init__(self, seed: int, stay: int) -> None:
        self._state, self._stay = seed, stay

    def dump(self) -> dict[str, Any]:
        """What a decider in another process must know to go on."""
        return {"state": self._state}

    def load(self, state: dict[str, Any]) -> None:
        self._state = state["state"]

    def _below(self, bound: int) -> int:
        """A linear congruential generator: no function of the library that could itself be a place."""
        self._state = (self._state * 1103515245 + 12345) % (1 << 31)
        return (self._state >> 12) % bound

    def at(self, me: Managed, key: str, n: int) -> Sequence[Action]:
        others = [t for t in me.controller.threads if t.status is Status.READY and t is not me]
        if not others or self._below(100) < self._stay:
            return ()
        return (HandOver(others[self._below(len(others))].name),)

    def pick(self, me: Managed, key: str, n: int, ready: list[Managed]) -> Managed:
        return ready[self._below(len(ready))]
