"""Does a sleeping process wake up by itself? Told from the system calls that its threads sleep in, as the kernel shows them."""

from __future__ import annotations

import platform

from .. import raw
from .asleep import settle, sleeps, tasks

_ALWAYS, _POINTER, _NUMBER = "always", "pointer", "number"  # how a call says until when

#: Number of a system call -> (which argument is the time-out, how it is given).
_CALLS: dict[str, dict[int, tuple[int, str]]] = {
    "x86_64": {
        35: (0, _ALWAYS), 230: (0, _ALWAYS), 219: (0, _ALWAYS),  # nanosleep, clock_nanosleep, restart_syscall
        202: (3, _POINTER), 271: (2, _POINTER), 23: (4, _POINTER), 270: (4, _POINTER),  # futex, ppoll, select, pselect6
        441: (3, _POINTER), 128: (2, _POINTER),  # epoll_pwait2, rt_sigtimedwait
        7: (2, _NUMBER), 232: (3, _NUMBER), 281: (3, _NUMBER),  # poll, epoll_wait, epoll_pwait
    },
    "aarch64": {
        101: (0, _ALWAYS), 115: (0, _ALWAYS), 128: (0, _ALWAYS),
        98: (3, _POINTER), 73: (2, _POINTER), 72: (4, _POINTER), 441: (3, _POINTER), 137: (2, _POINTER),
        22: (3, _NUMBER),
    },
}  # fmt: skip
_HERE = _CALLS.get(platform.machine())
_FOR_EVER = 1 << 31  # a negative number of milliseconds, as an unsigned one

#: Seconds that are left to a program before other threads go on: it may be waiting for one of them, and look by the clock.
PATIENCE = 2.0


def rest(pid: int, within: float = float("inf")) -> None:
    """Returns once it has ended, sleeps until somebody does something for it, or the time is over."""
    began, spent = raw.monotonic(), 0.0
    within = min(within, PATIENCE)
    while spent < within and not settle(pid, within - spent):
        if sleeps(pid) and not by_the_clock(pid):
            return
        raw.sleep(0.002)
        spent = raw.monotonic() - began


def by_the_clock(pid: int) -> bool:
    """Will process ``pid``, which sleeps, or one that it started, go on though nobody does anything for it? Yes, where it
    cannot be told."""
    return _HERE is None or any(_timed(task.joinpath("syscall")) for task in tasks(pid))


def _timed(path: object) -> bool:
    try:
        with open(str(path)) as file:
            fields = file.read().split()
        number = int(fields[0])
        where, how = (_HERE or {}).get(number, (-1, ""))
        if not how or how == _ALWAYS:
            return bool(how)
        value = int(fields[1 + where], 16)
    except (OSError, ValueError, IndexError):
        return True
    return value != 0 if how == _POINTER else value & 0xFFFFFFFF < _FOR_EVER
