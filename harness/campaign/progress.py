"""Live progress of a campaign: a line that is rewritten on a terminal, one now and then where there is none."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

from .campaign import Campaign
from .groups import coverage
from .store import Store

_TERMINAL, _FILE = 0.5, 60.0  # seconds between two lines


class Shown:
    """On standard error. A kind of failure is named once, after it was stored."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.terminal = sys.stderr.isatty()
        self.kinds: Counter[tuple[str, str, str]] = Counter()
        for (number, outcome, _), failure in store.content.failures.items():
            scenario = store.content.plan.unit(number).cell.scenario
            self.kinds[scenario, outcome, failure["minimal_signature"]] += 1
        self._last = time.monotonic()
        self._coverage = coverage(store.content)
        self._covered = set(store.content.units)

    def failure(self, scenario: str, outcome: str, failure: dict[str, Any]) -> None:
        if failure["minimal"] is None:
            return  # shown once it is reduced; until then it is safe, and counted
        kind = scenario, outcome, failure["minimal_signature"]
        self.kinds[kind] += 1
        if self.kinds[kind] == 1:
            self.clear()
            print(f"{scenario}  {outcome}: {kind[2]}\n  harness replay {failure['token']}", file=sys.stderr)

    def tick(self, campaign: Campaign) -> None:
        now = time.monotonic()
        if now - self._last < (_TERMINAL if self.terminal else _FILE):
            return
        self._last = now
        line = self.line(campaign)
        print(f"\r\x1b[K{line}" if self.terminal else line, end="" if self.terminal else "\n", file=sys.stderr, flush=True)

    def line(self, campaign: Campaign) -> str:
        cells = len(campaign.plan.cells)
        for number in set(campaign.store.content.units) - self._covered:
            self._covered.add(number)
            self._coverage.add(number % cells, campaign.store.content.units[number]["pairs"])
        units = f"{campaign.done} units" if campaign.units is None else f"{campaign.done} of {campaign.units} units"
        stored = campaign.store.content.units.values()
        schedules = sum(unit["schedules"] for unit in stored) + sum(ran for ran, _ in campaign.flying.values())
        failing = sum(times for unit in stored for *_, times in unit["failing"])
        failing += sum(failing for _, failing in campaign.flying.values())
        return (
            f"{units}, {schedules} schedules, {campaign.rate:.1f}/s, {failing} failing of {len(self.kinds)} kinds, "
            f"{self._coverage}"
        )

    def clear(self) -> None:
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
