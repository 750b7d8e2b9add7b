"""What a thread body may say to the controller; nothing at all outside a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import active

if TYPE_CHECKING:
    from .managed import Managed


def _me() -> Managed | None:
    return active.managed()


def marker(name: str) -> None:
    """A point of the scenario's own, named ``marker:NAME``. Calls are places, so it is realizable."""
    me = _me()
    if me is not None:
        me.controller.point_here(me, "marker:" + name)


def thread_index() -> int:
    """The index of the calling body's thread (0-based); for a thread it started, that of its ancestor; -1 outside a run."""
    me = _me()
    return -1 if me is None else me.root
