"""What a search strategy is: it proposes schedules and is told what came of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from harness.run.report import Report
from harness.schedule.schedule import Schedule

from .knowledge import Knowledge


@dataclass
class Proposal:
    """A schedule to run, and whose idea it was. ``online``: what the strategy decides while running."""

    schedule: Schedule
    strategy: str
    online: dict[str, Any] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for proposals of one shape that would be the same run."""
        online = tuple(sorted((k, repr(v)) for k, v in self.online.items())) if self.online else ()
        return (self.schedule.first, self.schedule.threads, self.schedule.directives, online)


class Strategy(Protocol):
    """One strategy; randomness is injected. ``next`` returns None when it has nothing to propose at the moment."""

    name: str
    share: float

    def next(self) -> Proposal | None: ...

    def told(self, proposal: Proposal, report: Report) -> None:
        """Called for every run of its shape, in order, whoever proposed it."""
        ...


@dataclass
class Ground:
    """What every strategy of one shape starts from.

    base      the shape: a schedule without directives
    flying    keys of proposals made and not told yet, whoever made them
    ran       keys of what has run, whoever proposed it, with the report while that may still be extended
    restored  states that some function saves and later stores back
    """

    base: Schedule
    knowledge: Knowledge
    random: Random
    collections: bool = True
    restored: frozenset[str] = frozenset()
    flying: set[tuple[Any, ...]] = field(default_factory=set)
    ran: dict[tuple[Any, ...], Report | None] = field(default_factory=dict)

    def made(self, proposal: Proposal) -> bool:
        return proposal.key in self.flying or proposal.key in self.ran
