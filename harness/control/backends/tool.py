"""The ``sys.monitoring`` tools of this process, and which back-end has them.

The second one is for the log of frames, and for what :func:`watch` does.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .monitoring import Monitoring

#: ``sys.monitoring``, which type checkers that are set to an older Python do not know
MONITORING: Any = vars(sys)["monitoring"]

_IDS = (4, 3, 5, 2, 1, 0)  # debuggers, coverage and profilers have 0 to 2 by custom
_owner: Monitoring | None = None
_ids: tuple[int, int] | None = None


def owner() -> Monitoring | None:
    return _owner


def second() -> int:
    assert _ids is not None
    return _ids[1]


def take(backend: Monitoring) -> int:
    """Give ``backend`` the events, from now on, in every thread. Between runs only."""
    global _owner, _ids
    if _owner is not None and _ids is not None:
        MONITORING.set_events(_ids[0], 0)
        _owner.released()
    else:
        _ids = _use("harness"), _use("harness, besides")
    _owner = backend
    for event, callback in backend.callbacks().items():
        MONITORING.register_callback(_ids[0], event, callback)
    MONITORING.set_events(_ids[0], backend.everywhere())
    MONITORING.restart_events()  # what the last one disabled
    return _ids[0]


def watch(code: CodeType, events: int) -> None:
    """Local events of ``code`` for the back-end, for good.

    Python 3.12 and 3.13 forget who asked for INSTRUCTION events as soon as another tool, ``sys.setprofile`` among them,
    has events in the same code: unless there had been two tools in it when they were asked for.
    """
    assert _ids is not None
    MONITORING.set_local_events(_ids[1], code, MONITORING.events.PY_START)
    MONITORING.set_local_events(_ids[0], code, events)
    MONITORING.set_local_events(_ids[1], code, 0)


def _use(name: str) -> int:
    for number in _IDS:
        if MONITORING.get_tool(number) is None:
            MONITORING.use_tool_id(number, name)
            return number
    taken = ", ".join(f"{number} by {MONITORING.get_tool(number)}" for number in sorted(_IDS))
    raise RuntimeError(f"no sys.monitoring tool id is left for the harness: {taken}")
