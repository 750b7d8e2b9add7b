"""What ``threading`` keeps for a thread that it did not start."""

from __future__ import annotations

import threading

from . import active


class Dummy(threading._DummyThread):
    """Of a body: threads that it starts are no daemons unless they are made so, as those that main starts are none."""

    def __init__(self) -> None:
        super().__init__()
        if active.managed() is not None:
            self._daemonic = False


def forget_dummy() -> None:
    """From 3.13 on an object of the thread's own takes a lock when the thread is gone: let it do that under control."""
    info = getattr(threading, "_thread_local_info", None)
    if info is not None:
        vars(info).pop("_track_dummy_thread_ref", None)
