"""What a search strategy is: it proposes schedules and is told what came of them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from harness.run.report import Report
from harness.schedule.schedule import Schedule

from .knowledge import Knowledge

STALE = 24  #: so many runs in a row that were no news, and a random strategy has nothing left to propose


@dataclass
class Proposal:
    """A schedule to run, and whose idea it was. ``online``: what the strategy decides while running."""

    schedule: Schedule
    strategy: str
    online: dict[str, Any] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for proposals that would be the same run."""
        online = tuple(sorted((k, repr(v)) for k, v in self.online.items())) if self.online else ()
        return (self.schedule.first, self.schedule.threads, self.schedule.directives, online)


class Strategy(Protocol):
    """One strategy; randomness is injected. ``next`` returns None when it has nothing to propose at the moment."""

    name: str
    share: float

    def next(self) -> Proposal | None: ...

    def told(self, proposal: Proposal, report: Report) -> None:
        """Called for every run of the search, in order, whoever proposed it."""
        ...


@dataclass
class Ground:
    """What every strategy starts from: the plain schedules (no directives), knowledge shared by all, randomness."""

    base: Schedule
    knowledge: Knowledge
    random: Random
    collections: bool = True
    #: states that some function saves and later stores back
    restored: frozenset[str] = frozenset()
