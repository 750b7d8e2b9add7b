"""Which controller is in charge in this process, if any, and which of its threads is asking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .raw import get_ident

if TYPE_CHECKING:
    from .controller import Controller
    from .managed import Managed

controller: Controller | None = None

#: Called once, when a thread that nobody controls starts another.
at_first_thread: Callable[[], None] | None = None


def managed() -> Managed | None:
    """The record of the calling thread, or None where nothing controls it."""
    if controller is None:
        return None
    return controller.by_ident.get(get_ident())
