"""Which code objects are instrumented, resolved once for each live code object."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.states import CodeSites, Table
from harness.states.codes import CodeKey
from harness.states.flow import Flow
from harness.states.kinds import KINDS, Found
from harness.states.scan import complete, sites_among

from .made import Told, told_of
from .places import Act, acts
from .reach import Reach
from .shield import shield

if TYPE_CHECKING:
    from .managed import Managed


class Instrumented(NamedTuple):
    """``told`` is called when the function starts; ``bare``: there is nothing else in it."""

    sites: CodeSites
    acts: dict[int, Act]
    entry: tuple[str, ...]
    exit: tuple[str, ...]
    told: Told | None = None
    bare: bool = False


#: Code of the controller's own (a cooperative lock stands for one in C): its start is no place of the program's.
OURS: Any = object()
OUR_FOLDER = os.path.dirname(__file__) + os.sep


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
        own = {sites.code.co_filename for sites in table.codes.values() if sites.fine}
        self._libraries = set(table.files) - own
        self._reached: set[int] = set()
        self.reach: Reach | None = None
        self._by_key: dict[CodeKey, Instrumented] = {key: self._make(sites) for key, sites in table.codes.items()}

    def known(self) -> list[Instrumented]:
        """All code that the scan found, as compiled from its file."""
        return list(self._by_key.values())

    def _make(self, sites: CodeSites) -> Instrumented:
        entry = tuple(access.point for access in sites.entry)
        if sites.entered:
            entry = (f"call:{sites.name}", *entry)
        leaving = tuple(access.point for access in sites.exit)
        return Instrumented(sites, acts(sites.code, sites, free=self.free), entry, leaving)

    def activate(self, shared: Any) -> None:
        """Set-up has made ``shared``: points in library code are where that is used, and else where they always are."""
        if "reach" not in self.table.points or not self._libraries:
            return
        self.reach = Reach(shared)
        for key in [key for key, found in self.by_id.items() if found is None or key in self._reached]:
            del self.by_id[key]
        self._reached.clear()

    def _reach_into(self, code: CodeType, frame: FrameType, me: Managed | None, found: Instrumented | None) -> Instrumented | None:
        """What is known of ``code``, and the uses in it of what the shared object reaches."""
        assert self.reach is not None
        holds = me is not None and self.reach.held_by(frame, me)
        words = {state.rpartition(":")[2] for state in self.reach.attributes}
        if not holds and words.isdisjoint(code.co_names):
            return found
        module = sys.modules[self.table.files[code.co_filename]]
        qualname = getattr(code, "co_qualname", code.co_name)
        of = Found(module, qualname, code, Flow(code, module, qualname).run(), False)
        sites = {} if found is None else {offset: list(here) for offset, here in found.sites.sites.items()}
        for offset, access in KINDS["objects"].sites(of, self.reach.attributes):
            here = sites.setdefault(offset, [])
            if access not in here:
                here.append(access)
        if not holds and not sites:
            return found
        made = complete(of, sites, self.table.points, entered=holds)
        made.fine = holds
        if found is not None:
            made = replace(made, entry=found.sites.entry, exit=found.sites.exit)
        return self._make(made)

    def resolve(self, code: CodeType, frame: FrameType, me: Managed | None) -> Instrumented | None:
        """For the function that starts in ``frame`` (of thread ``me``, None outside a run). Not remembered where the next call may be with something shared."""
        if code.co_filename.startswith(OUR_FOLDER):
            self.by_id[id(code)] = OURS
            self._kept.append(code)
            return OURS
        told = told_of(code)
        found = self._by_key.get((code.co_filename, code.co_name, code.co_firstlineno))
        if found is not None and code != found.sites.code:
            with shield():
                found = self._rewritten(code, found.sites)
        elif self.reach is not None and code.co_filename in self._libraries and (found is None or not found.sites.fine):
            before = found
            with shield():
                found = self._reach_into(code, frame, me, found)
            if found is None and told is None and self.reach.containers and code.co_argcount:
                return None
            if found is not before:
                self._reached.add(id(code))
        if told is not None:
            self._reached.add(id(code))  # set-up may make it of more interest than that
            with shield():
                found = self._telling(found, code, told)
        self.by_id[id(code)] = found
        self._kept.append(code)
        return found

    def _telling(self, found: Instrumented | None, code: CodeType, told: Told) -> Instrumented:
        if found is None:
            return Instrumented(CodeSites("", code.co_name, code), {}, (), (), told, bare=True)
        return found._replace(told=told)

    def _rewritten(self, code: CodeType, sites: CodeSites) -> Instrumented:
        """Code that Dynamo made from a known function: same place in the file, other instructions."""
        module = sys.modules[sites.module]
        found = Found(module, sites.qualname, code, Flow(code, module, sites.qualname).run(), sites.fine)
        made = complete(found, sites_among(found, self.table.by_kind), self.table.points, sites.entered)
        return self._make(replace(made, entry=sites.entry, exit=sites.exit))
