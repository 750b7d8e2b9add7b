"""Module globals, and attributes of modules and classes, that some function writes through their name."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Set
from types import CodeType

from ..codes import Access
from .kind import Found, last_words

_WRITES = frozenset(dis.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"))


class Names:
    name = "names"
    within = True

    def may_make(self, code: CodeType, fine: bool) -> bool:
        return not _WRITES.isdisjoint(code.co_code[::2])

    def makes(self, found: Found) -> Iterator[str]:
        for event in found.events:
            if event.what == "write":
                yield f"{event.owner}.{event.name}"

    def words(self, states: Set[str]) -> set[str]:
        return last_words(states)

    def sites(self, found: Found, states: Set[str]) -> Iterator[tuple[int, Access]]:
        for event in found.events:
            if event.owner and (state := f"{event.owner}.{event.name}") in states:
                yield event.offset, Access(state, event.what == "write")
