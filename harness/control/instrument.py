"""Which code objects are instrumented, resolved once for each live code object."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from types import CodeType
from typing import Any, NamedTuple

from harness.states import CodeSites, Table
from harness.states.codes import CodeKey
from harness.states.resolve import touches
from harness.states.scan import sites_among

from .places import Act, acts
from .shield import shield


class Instrumented(NamedTuple):
    sites: CodeSites
    acts: dict[int, Act]
    entry: tuple[str, ...]
    exit: tuple[str, ...]


#: Code of the controller's own (a cooperative lock stands for one in C): its start is no place of the program's.
OURS: Any = object()
_OUR_FOLDER = os.path.dirname(__file__) + os.sep


class Instruments:
    """From code object to what is to be done in it.

    Looked up by identity, since comparing code objects is slow; the object is kept, so that its identity is not used
    again. Everything is worked out before the first run: in a trace callback as little as possible happens.
    """

    def __init__(self, table: Table, *, free: bool) -> None:
        self.table = table
        self.free = free
        self.by_id: dict[int, Instrumented | None] = {}
        self._kept: list[CodeType] = []
        self._by_key: dict[CodeKey, Instrumented] = {key: self._make(sites) for key, sites in table.codes.items()}

    def known(self) -> list[Instrumented]:
        """All code that the scan found, as compiled from its file."""
        return list(self._by_key.values())

    def _make(self, sites: CodeSites) -> Instrumented:
        entry = tuple(access.point for access in sites.entry)
        if sites.fine:
            entry = (f"call:{sites.name}", *entry)
        leaving = tuple(access.point for access in sites.exit)
        return Instrumented(sites, acts(sites.code, sites, free=self.free), entry, leaving)

    def resolve(self, code: CodeType) -> Instrumented | None:
        if code.co_filename.startswith(_OUR_FOLDER):
            self.by_id[id(code)] = OURS
            self._kept.append(code)
            return OURS
        found = self._by_key.get((code.co_filename, code.co_name, code.co_firstlineno))
        if found is not None and code != found.sites.code:
            with shield():
                found = self._rewritten(code, found.sites)
        self.by_id[id(code)] = found
        self._kept.append(code)
        return found

    def _rewritten(self, code: CodeType, sites: CodeSites) -> Instrumented:
        """Code that Dynamo made from a known function: same place in the file, other instructions."""
        found = touches(code, sys.modules[sites.module], sites.qualname)
        states = set(self.table.states)
        return self._make(replace(sites, code=code, sites=sites_among(found, states)))


