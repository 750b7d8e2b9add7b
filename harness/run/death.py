"""Processes that do not outlive the one they belong to (Linux)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Container
from pathlib import Path

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """This process gets the signal when process ``parent`` ends, however that ends."""
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """What descendants of this process leave when they end becomes its child, also from a session of its own."""
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_children(spare: Container[int] = ()) -> None:
    """Kill and reap every child but ``spare``, then what those leave to this process, until nothing is left."""
    while doomed := [pid for pid in children() if pid not in spare]:
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in doomed:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def children() -> list[int]:
    """Children of this process, which has one thread wherever this is used; ended ones that nobody waited for too."""
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:  # a kernel without that file: process groups must do
        return []


def kill_session(leader: int) -> None:
    """Kill what is left of the session of a process that could not do so itself."""
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if entry.isdigit():
            with contextlib.suppress(OSError):
                if os.getsid(int(entry)) == leader:
                    os.kill(int(entry), signal.SIGKILL)
