"""Names for lock points: by the code that uses the lock, never by an address."""

from __future__ import annotations

import sys
from types import FrameType

#: Files whose frames are plumbing: the user of a lock is the first caller outside them.
_PLUMBING = ("/threading.py", "/queue.py", "/concurrent/futures/", "/harness/control/")


def _user(frame: FrameType | None) -> FrameType | None:
    while frame is not None and any(part in frame.f_code.co_filename for part in _PLUMBING):
        frame = frame.f_back
    return frame


def using(depth: int) -> tuple[str, str]:
    """(stable name of the function that uses the lock, its ``file:line``), seen from ``depth`` frames up."""
    frame = _user(sys._getframe(depth + 1))
    if frame is None:
        return "thread-start", "thread start"
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)
    return f"{frame.f_globals.get('__name__', '?')}.{name}", f"{code.co_filename}:{frame.f_lineno}"


def born(depth: int) -> str:
    frame = _user(sys._getframe(depth + 1))
    return "unknown" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def waits_for_notify(depth: int) -> bool:
    """Is this the waiter lock inside ``Condition.wait``?"""
    code = sys._getframe(depth + 1).f_code
    return code.co_name == "wait" and code.co_filename.endswith("threading.py")
