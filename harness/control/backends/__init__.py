"""How points are noticed: ``sys.monitoring`` where it exists (3.12), ``sys.settrace`` before."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from ..places import NEEDS_SETTRACE

if TYPE_CHECKING:
    from ..controller import Controller
    from ..frames import Frames
    from ..instrument import Instruments
    from ..managed import Managed


class Backend(Protocol):
    """Turns what a thread executes into calls of ``Controller.point`` and ``Controller.place``."""

    def enter(self, controller: Controller, me: Managed) -> None: ...

    def running(self, controller: Controller, me: Managed, frame: FrameType) -> None:
        """``frame`` of the calling thread, and those that called it, began before :meth:`enter`."""
        ...

    def leave(self, me: Managed) -> None: ...

    def logging(self, frames: Frames) -> AbstractContextManager[None]:
        """``frames`` is told what starts in the threads that enter meanwhile. Points and places are the same."""
        ...

    def activate(self, shared: Any) -> None:
        """Set-up is done, and the bodies will be given ``shared``."""
        ...


def make(instruments: Instruments) -> Backend:
    if NEEDS_SETTRACE:
        from .settrace import SetTrace

        return SetTrace(instruments)
    from .monitoring import Monitoring

    return Monitoring(instruments)
