"""What ``threading`` keeps for a thread that it did not start."""

from __future__ import annotations

import threading

from . import active, raw


class Dummy(threading._DummyThread):
    """Of a body: threads that it starts are no daemons unless they are made so, as those that main starts are none."""

    def __init__(self) -> None:
        super().__init__()
        if active.managed() is not None:
            self._daemonic = False
            if hasattr(self, "_tstate_lock"):  # up to 3.12: in a forked child it stands for main, which ends by giving that back
                self._tstate_lock = raw.allocate_lock()
                self._tstate_lock.acquire()


def forget_dummy() -> None:
    """When a thread ends. From 3.13 on an object of its own takes a lock when it is gone: let it do that under control."""
    info = getattr(threading, "_thread_local_info", None)
    if info is not None:
        vars(info).pop("_track_dummy_thread_ref", None)
    elif isinstance(threading._active.get(raw.get_ident()), Dummy):  # type: ignore[attr-defined]
        del threading._active[raw.get_ident()]  # type: ignore[attr-defined]  # the next thread may get the same number
