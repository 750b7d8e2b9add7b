"""What a thread body may say to the controller; nothing at all outside a run."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from . import active

if TYPE_CHECKING:
    from .managed import Managed

_NAME = re.compile(r"[^\s,@]{1,80}")


#: ``index`` of a body that runs on a plain thread, without control.
plain = threading.local()


def _me() -> Managed | None:
    return active.managed()


def marker(name: str) -> None:
    """A point of the scenario's own, named ``marker:NAME``. Calls are places, so it is realizable.

    Raises ValueError for a name with spaces, commas or ``@``, which a token could not hold.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"marker {name!r}: a name is 1 to 80 characters without spaces, commas and @")
    me = _me()
    if me is not None:
        me.controller.point_here(me, "marker:" + name)


def thread_index() -> int:
    """The index of the calling body's thread (0-based); for a thread it started, that of its ancestor; -1 outside a run."""
    me = _me()
    return getattr(plain, "index", -1) if me is None else int(me.name[1:].partition(".")[0])
