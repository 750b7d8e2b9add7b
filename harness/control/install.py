"""Puts the cooperative primitives in place of the interpreter's, before anything else makes a lock.

Called first thing in the process that imports torch: a lock made earlier is real, and whoever is parked with it
would block everyone.
"""

from __future__ import annotations

import _thread
import functools
import gc
import logging
import os
import queue
import threading
import time
from typing import Any

from . import clock, collector, dummy, files, notify, semaphores, sockets, threads
from .forks import fork, programs, wait
from .locks import CoopLock, CoopRLock

#: (where, name, replacement); a name that this Python lacks is left alone.
_TABLE: list[tuple[Any, str, Any]] = [
    (_thread, "allocate_lock", CoopLock),
    (_thread, "RLock", CoopRLock),
    (_thread, "start_new_thread", threads.start_new_thread),
    (threading, "_allocate_lock", CoopLock),
    (threading, "Lock", CoopLock),
    (threading, "_LockType", CoopLock),
    (threading, "_CRLock", CoopRLock),
    (threading, "RLock", CoopRLock),
    (threading, "_start_new_thread", threads.start_new_thread),
    (threading, "_start_joinable_thread", threads.start_joinable_thread),
    (threading.Thread, "__hash__", threads.stable_hash),
    (threading.Thread, "join", threads.join),
    (threading.Thread, "is_alive", threads.is_alive),
    (threading.Condition, "notify", notify.notify),
    (threading, "_time", clock.monotonic),
    (threading, "_DummyThread", dummy.Dummy),
    (functools, "RLock", CoopRLock),
    (queue, "SimpleQueue", queue._PySimpleQueue),  # type: ignore[attr-defined]
    (queue, "time", clock.monotonic),
    (time, "monotonic", clock.monotonic),
    (time, "sleep", clock.sleep),
    (os, "fork", fork.fork),
    (os, "forkpty", fork.forkpty),
    (os, "wait", wait.wait),
    (os, "wait3", wait.wait3),
    (os, "wait4", wait.wait4),
    (os, "waitid", wait.waitid),
    (os, "waitpid", wait.waitpid),
    *files.TABLE,
    *programs.TABLE,
    *semaphores.TABLE,
    *sockets.TABLE,
    (gc, "enable", collector.enable),
    (gc, "disable", collector.disable),
    (gc, "isenabled", collector.isenabled),
]

_replaced: list[tuple[Any, str, Any]] = []


def install() -> None:
    """Replace the factories. Idempotent."""
    if _replaced:
        return
    for where, name, new in _TABLE:
        old = getattr(where, name, None)
        if old is not None:
            _replaced.append((where, name, old))
            setattr(where, name, new)
    logging._lock = CoopRLock()  # type: ignore[attr-defined]
    for reference in list(getattr(logging, "_handlerList", [])):
        handler = reference()
        if handler is not None:
            handler.createLock()


def uninstall() -> None:
    """Put the originals back; locks made meanwhile stay cooperative, which outside a run is the same."""
    while _replaced:
        where, name, old = _replaced.pop()
        setattr(where, name, old)
