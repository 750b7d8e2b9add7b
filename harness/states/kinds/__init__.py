"""What can be a point, one file a kind. A scenario chooses with ``points``; what it leaves out is not looked for."""

from __future__ import annotations

from .containers import Containers
from .kind import Found, Kind
from .names import Names
from .objects import Objects
from .pairs import Pairs

#: Kinds that find states, by name.
KINDS: dict[str, Kind] = {kind.name: kind for kind in (Names(), Containers(), Pairs(), Objects())}

#: Kinds that are read off single instructions of the scenario's own code (:mod:`harness.control.places`).
PLAIN = ("entries", "operators", "releases")

ALL: tuple[str, ...] = (*KINDS, *PLAIN)

#: Where torch is scanned, the others cost more than they find unless they are asked for.
WITH_TORCH: tuple[str, ...] = ("names", "objects", *PLAIN)

__all__ = ["ALL", "KINDS", "PLAIN", "WITH_TORCH", "Found", "Kind"]
