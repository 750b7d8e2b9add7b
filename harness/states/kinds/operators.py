"""Operators and returns of the scenario's own code, as the fallback where a body neither calls nor touches a state.

The point is passed *before* the instruction: what is asked for happens at the start of the function that the operator
calls (``Fraction.__add__``), which is a place. Where it calls none, there is no place, and the hand-over finds the next.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..flow import Event

_OPERATIONS = frozenset({"operator", "item", "set item", "contains", "iterate", "next", "with", "get", "set"})


def operators(events: Iterable[Event]) -> dict[int, str]:
    """Offset -> ``op`` or ``return``."""
    return {
        event.offset: "return" if event.what == "return" else "op"
        for event in events
        if event.what in _OPERATIONS or event.what == "return"
    }
