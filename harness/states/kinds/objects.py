"""Attributes of objects that threads may share: found by name in the scenario's own code.

State ``module.Class:name``: attribute ``name`` of whichever object, called after the class whose methods set it. In
other modules only the attributes of objects that set-up's result reaches are looked for
(:mod:`harness.control.reach`), once they exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from types import CodeType

from ..codes import Access
from ..value import Value
from .containers import uses
from .kind import Found, last_words


class Objects:
    name = "objects"
    within = True

    def may_make(self, code: CodeType, fine: bool) -> bool:
        return fine

    def makes(self, found: Found) -> Iterator[str]:
        """Attributes that some function stores, or whose container some function changes."""
        for event in found.events:
            if event.what == "set":
                yield _named(found, event.base, event.name)
            for value, changed in uses(event):
                if changed and value.kind == "attr":
                    yield _named(found, value.base, value.name)

    def words(self, states: Set[str]) -> set[str]:
        return last_words(states)

    def sites(self, found: Found, states: Set[str]) -> Iterator[tuple[int, Access]]:
        by_name = _by_name(states)
        followed = set()
        for event in found.events:
            for value, changed in uses(event):
                if value.kind == "attr" and value.name in by_name:
                    followed.add(value.offset)
                    yield event.offset, Access(by_name[value.name], changed)
        for event in found.events:
            if event.what in ("get", "set") and event.name in by_name and event.offset not in followed:
                yield event.offset, Access(by_name[event.name], event.what == "set")


def _named(found: Found, base: Value, name: str) -> str:
    """By the class, where ``self`` says which; by the module where it doesn't."""
    method = base.kind == "local" and base.name == "self" and "." in found.qualname
    owner = "." + found.qualname.rpartition(".")[0] if method else ""
    return f"{found.module.__name__}{owner}:{name}"


def _by_name(states: Set[str]) -> dict[str, str]:
    """An attribute has one name wherever it is used: that of its class where exactly one class sets it."""
    groups: dict[str, list[str]] = {}
    for state in sorted(states, key=lambda state: (state.count("."), state)):
        groups.setdefault(state.rpartition(":")[2], []).append(state)
    found = {}
    for name, group in groups.items():
        classes = [state for state in group if "." in state]
        found[name] = classes[0] if len(classes) == 1 else group[0]
    return found
