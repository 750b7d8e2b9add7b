"""Locals of a running function, without keeping their values alive.

Up to Python 3.12 ``frame.f_locals`` of a function is a copy that the frame keeps: an object in it outlives its ``del``,
and its finalizer comes late. So what was copied is taken out again. 3.11 writes the copy back when a trace function
returns: there it is emptied at the next event of the thread, which comes before the next instruction.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .managed import Managed

_PROXY = sys.version_info >= (3, 13)  # not a copy
_KEPT = sys.version_info[:2] in ((3, 11), (3, 12))  # 3.10 makes it anew at every event
_LATER = sys.version_info < (3, 12)


def locals_of(frame: FrameType, me: Managed) -> Mapping[str, Any]:
    """To be read at once, in a callback of ``frame``'s own, by thread ``me``."""
    found = frame.f_locals
    if _PROXY or not _KEPT or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return found
    values = dict(found)
    if _LATER:
        me.borrowed.append(found)
    else:
        found.clear()
    return values


def give_back(me: Managed) -> None:
    """At the next event: ``if me.borrowed: give_back(me)``."""
    for found in me.borrowed:
        found.clear()
    me.borrowed.clear()
