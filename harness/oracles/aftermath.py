"""What a run left, by value: compared with what sequential orders leave.

results, the shared object, what probes returned, the process-wide states of the scenario's own file, what C getters tell,
random number generators (by hash), and which process-wide containers were empty before and are not now.
"""

from __future__ import annotations

import hashlib
import random
import sys
from types import ModuleType
from typing import Any

from harness.states import Table
from harness.states.values import fetch

from .by_value import by_value


class Aftermath:
    """Made when set-up is done; ``told`` when the threads have ended."""

    def __init__(self, table: Table, module: ModuleType | None) -> None:
        home = f"{module.__name__}." if module is not None else "\0"
        own = table.by_kind.get("names", set()) | table.by_kind.get("containers", set())
        self._states = sorted({state for state in own if state.startswith(home)} | table.by_kind.get("pairs", set()))
        self._containers = sorted(table.by_kind.get("containers", set()) - set(self._states))
        self._random = random.getstate()
        self._empty = [state for state in self._containers if _size(state) == 0]

    def told(self, shared: Any, results: list[Any], probes: dict[str, str]) -> dict[str, str]:
        found = {"results": by_value(results), "shared": by_value(shared)}
        found.update((f"probe {name}", text) for name, text in probes.items())
        for state in self._states:
            try:
                found[state] = by_value(fetch(state))
            except LookupError:
                found[state] = "unset"
        found["random"] = "used" if random.getstate() != self._random else "unused"  # a fork gets a seed of its own
        torch = sys.modules.get("torch")
        if torch is not None:
            found["torch.random"] = _hash(torch.get_rng_state().tolist())
        grown = [state for state in self._empty if _size(state)]
        found["containers that were empty"] = ", ".join(grown)
        return {name: _short(text) for name, text in found.items()}


def apart(results: list[Any], probes: dict[str, str], left: dict[str, dict[str, str]]) -> dict[str, str]:
    """Of bodies with a process each: ``left`` is what each was told to have left in its own memory."""
    found = {"results": by_value(results), **{f"probe {name}": text for name, text in probes.items()}}
    found.update((f"{part} of {name}", text) for name, parts in left.items() for part, text in parts.items() if part != "results")
    return {name: _short(text) for name, text in found.items()}


def _short(text: str) -> str:
    return text if len(text) <= 400 else text[:360] + "... " + _hash(text)


def _size(state: str) -> int | None:
    try:
        return len(fetch(state))
    except (LookupError, TypeError):
        return None


def _hash(value: object) -> str:
    return hashlib.sha256(str(value).encode()).hexdigest()[:16]
