"""The counterfactual of an explanation: chosen states are, for one run, each thread's own.

With every hand-over the values are exchanged: what a thread left is put away, what it had is put back. Where the same
schedule then passes, the failure went through these states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.states.values import assign, fetch_or_unset

from .shield import shield


class Isolation:
    """``states`` by name. A thread starts with the values of the beginning; so does what comes after the threads."""

    def __init__(self, states: Sequence[str]) -> None:
        self.states = states
        self.initial = self._values()
        self.own: dict[int, dict[str, Any]] = {}

    def _values(self) -> dict[str, Any]:
        return {state: fetch_or_unset(state) for state in self.states}

    def switch(self, leaving: int, entering: int) -> None:
        """``leaving`` and ``entering`` are indices of bodies; threads they started share their values."""
        if leaving == entering:
            return
        with shield():
            self.own[leaving] = self._values()
            self._put(self.own.get(entering, self.initial))

    def end(self) -> None:
        with shield():
            self._put(self.initial)

    def _put(self, values: dict[str, Any]) -> None:
        for state, value in values.items():
            assign(state, value)
