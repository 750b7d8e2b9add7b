"""Is a thread blocked in C code? Told from its state in the kernel, never from a time-out.

A thread that waits for the GIL, or for its gate with a time-out, sleeps in a futex *with* a time-out; one that
waits for a lock inside C sleeps in a futex *without*, and between two looks is not scheduled once. While another thread
computes, one that no controller knows or one that waits for a processor, it may be about to be woken. The moment of
the look never enters the point sequence.
"""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

from .. import raw
from .describe import stack_of

if TYPE_CHECKING:
    from ..managed import Managed

_FUTEX = {"x86_64": "202", "aarch64": "98"}.get(platform.machine())


def _asleep(native_id: int) -> tuple[str, int] | None:
    """(what it sleeps on, how often it was switched out), or None when it does not sleep for good."""
    try:
        with open(f"/proc/self/task/{native_id}/syscall") as file:
            fields = file.read().split()
        if len(fields) < 5 or fields[0] != _FUTEX or fields[4] not in ("0x0", "0"):
            return None
        with open(f"/proc/self/task/{native_id}/status") as file:
            for line in file:
                if line.startswith("voluntary_ctxt_switches"):
                    return fields[1], int(line.split()[1])
    except OSError:
        return None
    return None


def _another_runs(native_id: int) -> bool:
    """Does a thread of this process run, or wait for a processor, besides that one and the one that asks?"""
    mine = raw.get_native_id()
    for name in os.listdir("/proc/self/task"):
        if int(name) not in (native_id, mine):
            try:
                with open(f"/proc/self/task/{name}/syscall") as file:
                    if file.read().startswith("running"):
                        return True
            except OSError:  # it has ended
                continue
    return False


class Looks:
    """Two equal looks in a row are needed, at both of which no other thread runs."""

    def __init__(self) -> None:
        self._last: tuple[object, tuple[str, int]] | None = None

    def blocked(self, me: Managed) -> bool:
        now = _asleep(me.native_id) if _FUTEX else None
        if now is None or _another_runs(me.native_id):
            self._last = None
            return False
        same = self._last == (me.index, now)
        self._last = (me.index, now)
        return same


def where(me: Managed) -> str:
    stack = stack_of(me.ident)
    return stack[-1] if stack else "unknown"
