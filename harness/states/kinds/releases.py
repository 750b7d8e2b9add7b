"""Instructions without a call whose C code may give up the GIL: a hand-over is possible right behind them.

``tensor + 1``, ``line in file``, a step of ``for row in cursor``. Whether it does depends on the operands, which only
the run can tell (:mod:`harness.control.gives_up`); operands that cannot are left out here.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..flow import Event
from ..value import MISSING, Value

_OPERATIONS = frozenset({"operator", "item", "set item", "contains", "next"})


def releases(events: Iterable[Event]) -> dict[int, tuple[str, tuple[Value, ...]]]:
    """Offset -> what is done, and the operands that may make it give up the GIL."""
    found = {}
    for event in events:
        if event.what in _OPERATIONS:
            values = event.args if event.what == "operator" else (event.base,)
            unknown = tuple(v for v in values if v.kind and v.kind != "const" and not _harmless(v.object))
            if unknown:
                found[event.offset] = (event.what, unknown)
    return found


def _harmless(value: object) -> bool:
    return value is not MISSING and type(value).__module__ == "builtins"
