"""What can be a point, one file a kind. A scenario chooses with ``points``; what it leaves out is not looked for."""

from __future__ import annotations

from .containers import Containers
from .kind import Found, Kind
from .names import Names
from .objects import Objects
from .pairs import Pairs

#: Kinds that find states, by name.
KINDS: dict[str, Kind] = {kind.name: kind for kind in (Names(), Containers(), Pairs(), Objects())}

#: Kinds that find no states of their own: starts of chosen packages' functions; single instructions of the scenario's own
#: code (:mod:`harness.control.places`); what the shared object reaches (:mod:`harness.control.reach`).
PLAIN = ("entries", "operators", "releases", "reach")

ALL: tuple[str, ...] = (*KINDS, *PLAIN)

#: With torch the others are to be asked for: a compile passes them many times, which makes a search longer.
WITH_TORCH: tuple[str, ...] = ("names", "objects", "entries", "releases")

__all__ = ["ALL", "KINDS", "PLAIN", "WITH_TORCH", "Found", "Kind"]
