"""What ``threading`` keeps for a thread that it did not start."""

from __future__ import annotations

import threading


def forget_dummy() -> None:
    """From 3.13 on an object of the thread's own takes a lock when the thread is gone: let it do that under control."""
    info = getattr(threading, "_thread_local_info", None)
    if info is not None:
        vars(info).pop("_track_dummy_thread_ref", None)
