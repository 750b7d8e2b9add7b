"""The campaign itself: units are given out, and what comes back is stored before it is shown."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any, Protocol

from harness.errors import CannotTest, UserError

from .crew import Crew
from .plan import Plan, Shard
from .store import Store

_TICK = 0.25  # seconds between two looks at clock and progress


class Watcher(Protocol):
    """Is shown what happens, after it was stored."""

    def failure(self, scenario: str, outcome: str, failure: dict[str, Any]) -> None: ...

    def tick(self, campaign: Campaign) -> None: ...


class Campaign:
    """store    open, of the same plan
    seeds    how many rounds, None for no end
    interpreter  of the environment in which runs are made, where it is not this one
    """

    def __init__(
        self, plan: Plan, store: Store, *, shard: Shard, seeds: int | None, jobs: int, watcher: Watcher,
        interpreter: str | None = None,
    ) -> None:  # fmt: skip
        self.plan, self.store, self.watcher = plan, store, watcher
        self.jobs, self.interpreter = jobs, interpreter
        self.units = len(list(plan.numbers(shard, seeds))) if seeds is not None else None
        self.done = 0
        self.flying: dict[int, tuple[int, int]] = {}  # unit to (schedules, failing) so far
        self.schedules = 0  # of units that ended in this run of the command
        self.began = time.monotonic()
        self._numbers = self._to_do(plan.numbers(shard, seeds))
        self._next: deque[int] = deque()

    def _to_do(self, numbers: Iterator[int]) -> Iterator[int]:
        for number in numbers:
            if number in self.store.content.units:
                self.done += 1
            else:
                yield number

    def _take(self, scenario: str) -> int | None:
        """The next unit, rather one of the scenario that a worker has loaded already. Only so far ahead is looked
        that every scenario has its turn."""
        while len(self._next) < 2 * len(self.plan.cells) + self.jobs:
            number = next(self._numbers, None)
            if number is None:
                break
            self._next.append(number)
        if not self._next:
            return None
        same = (number for number in self._next if self.plan.unit(number).cell.scenario == scenario)
        number = next(same, self._next[0])
        self._next.remove(number)
        return number

    def run(self, seconds: float | None) -> None:
        """Until all units are done, or for so many seconds: units in the middle then are to be made again.

        Raises UserError or CannotTest where a unit cannot be made, KeyboardInterrupt; the store has all that was
        shown to the watcher.
        """
        first = self._take("")
        if first is None:
            return
        self._next.appendleft(first)
        with Crew(self.plan, min(self.jobs, len(self._next)), self.interpreter) as crew:
            while True:
                for member in crew.idle():
                    number = self._take(member.scenario)
                    if number is not None:
                        crew.give(member, number)
                        self.flying[number] = (0, 0)
                self.watcher.tick(self)
                if not self.flying or (seconds is not None and time.monotonic() - self.began > seconds):
                    return
                for message in crew.messages(_TICK):
                    self._told(message)

    def _told(self, message: dict[str, Any]) -> None:
        number: int = message["unit"]
        if "ran" in message:
            self.flying[number] = message["ran"], message["failing"]
        elif "failure" in message:
            key = number, message["outcome"], message["signature"]
            self.store.add_failure(key, message["failure"])
            self.watcher.failure(self.plan.unit(number).cell.scenario, message["outcome"], message["failure"])
        elif "done" in message:
            self.store.add_unit(number, message["done"], message["seconds"])
            del self.flying[number]
            self.done += 1
            self.schedules += message["done"]["schedules"]
        else:
            raise (UserError if message["mistake"] else CannotTest)(message["error"])

    @property
    def rate(self) -> float:
        """Schedules a second in this run of the command."""
        running = sum(ran for ran, _ in self.flying.values())
        return (self.schedules + running) / max(1e-9, time.monotonic() - self.began)
