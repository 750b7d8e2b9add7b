"""Random priorities that change at places of the scenario's own code, where no state is known that two threads touch.

What is shared then is where nothing was looked for: an object of a library, or one that only arguments reach. It is used in
the scenario's own code, whose places are few, while the locks of executors and event loops are hundreds and are no part of it.
A thread that a body starts may have to be started, and to run, before the one that was stopped goes on: with priorities that
is one change, as directives it is two.
"""

from __future__ import annotations

from harness.run.report import Report

from .pct import PCT
from .strategy import Ground, Proposal

_SHARE = 0.4


class OwnPlaces(PCT):
    def __init__(self, ground: Ground) -> None:
        super().__init__(ground, 2, 0.0)
        self.name = "pct2, own places"

    def told(self, proposal: Proposal, report: Report) -> None:
        super().told(proposal, report)
        self.share = 0.0 if self.ground.knowledge.states() else _SHARE

    def _of_interest(self, point: str) -> bool:
        return self.ground.knowledge.worth(point) == 1
