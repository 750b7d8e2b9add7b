"""The ``sys.monitoring`` tool of this process, and which back-end has it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .monitoring import Monitoring

#: ``sys.monitoring``, which type checkers that are set to an older Python do not know
MONITORING: Any = vars(sys)["monitoring"]

_NAME = "harness"
_IDS = (4, 3)  # debuggers, coverage and profilers have the low ones by custom
_owner: Monitoring | None = None
_id: int | None = None


def owner() -> Monitoring | None:
    return _owner


def take(backend: Monitoring) -> int:
    """Give ``backend`` the events, from now on, in every thread. Between runs only."""
    global _owner, _id
    if _owner is not None and _id is not None:
        MONITORING.set_events(_id, 0)
        _owner.released()
    else:
        _id = _free()
        MONITORING.use_tool_id(_id, _NAME)
    assert _id is not None
    _owner = backend
    for event, callback in backend.callbacks().items():
        MONITORING.register_callback(_id, event, callback)
    MONITORING.set_events(_id, backend.everywhere())
    MONITORING.restart_events()  # what the last one disabled
    return _id


def another(name: str) -> int:
    """A tool beside it, for who gives it back with ``free_tool_id``."""
    number = _free()
    MONITORING.use_tool_id(number, name)
    return number


def _free() -> int:
    for number in _IDS:
        if MONITORING.get_tool(number) is None:
            return number
    taken = ", ".join(f"{number} by {MONITORING.get_tool(number)}" for number in _IDS)
    raise RuntimeError(f"no sys.monitoring tool id is left for the harness: {taken}")
