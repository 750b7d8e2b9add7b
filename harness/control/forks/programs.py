"""Programs that a run starts (``subprocess``): their time is the clock's, which is not ours.

What such a program does by itself takes no time of the run: who waits for it, or looks whether it has ended, keeps the baton
until it has ended, or sleeps and needs something (or may: it sleeps on). Where nobody can run any more but by a time-out, and
a program goes on by itself, virtual time passes no faster than its own: a time-out of one second ends before a program that
sleeps for two.
"""

from __future__ import annotations

import _posixsubprocess
import os
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import active, clock, raw
from ..locks import site
from ..managed import Status
from .account import Child
from .asleep import ended, sleeps
from .clocked import by_the_clock, rest

if TYPE_CHECKING:
    from ..baton import Baton
    from ..managed import Managed

_LOOKS = 0.05  # seconds between two looks at what it sleeps in


def _starting(real: Callable[..., int]) -> Callable[..., int]:
    def start(*args: Any, **kwargs: Any) -> int:
        pid = real(*args, **kwargs)
        me = active.managed()
        if me is not None:
            me.controller.account.add_program(pid, me.name)
        return pid

    return start


def _of(process: subprocess.Popen[Any]) -> tuple[Managed, Child] | None:
    """The thread that asks and the program, where both are of the run and it is not known how that ended."""
    me = active.managed()
    child = me.controller.account.children.get(process.pid) if me is not None else None
    return None if me is None or child is None or not child.program or process.returncode is not None else (me, child)


_wait: Callable[..., int] = subprocess.Popen._wait  # type: ignore[attr-defined]
_poll = subprocess.Popen.poll


def wait(self: subprocess.Popen[Any], timeout: float | None) -> int:
    """``Popen._wait`` polls; here a time-out is one wait, so that two runs of a schedule are one sequence of points."""
    pair = _of(self)
    if pair is None or timeout is None:
        return _wait(self, timeout)
    me, child = pair
    me.controller.point_here(me, "wait")
    rest(child.pid, timeout)
    if not ended(child.pid):
        me.controller.block(me, child, "wait", site.using(2)[1], timeout)
    try:
        return _wait(self, 0)
    except subprocess.TimeoutExpired:
        raise subprocess.TimeoutExpired(self.args, timeout) from None


def poll(self: subprocess.Popen[Any]) -> int | None:
    pair = _of(self)
    if pair is not None:
        rest(pair[1].pid)
    return _poll(self)


def go_on(control: Baton) -> bool:
    """Nobody can run. Does a program end, or make a file ready, before the next time-out does? Then somebody can."""
    from ..files import look

    living = control.account.programs()
    ends = [other.deadline for other in control.threads if other.status is Status.BLOCKED and other.deadline is not None]
    if not living or not ends:
        return False
    until, began, looked = min(ends) - control.clock, raw.monotonic(), 0.0
    while living:
        for child in [child for child in living if ended(child.pid)]:
            living.remove(child)
            control.wake(child)
        look(control)
        if any(other.status is Status.READY for other in control.threads):
            return True
        now = raw.monotonic()
        if now - began >= until:
            return False
        if now - looked > _LOOKS:
            looked = now
            if all(sleeps(child.pid) and not by_the_clock(child.pid) for child in living):
                return False
        raw.sleep(0.001)
    return False


#: (where, name, replacement), as in :mod:`harness.control.install`.
TABLE: list[tuple[Any, str, Any]] = [
    (_posixsubprocess, "fork_exec", _starting(_posixsubprocess.fork_exec)),
    (subprocess, "_fork_exec", _starting(_posixsubprocess.fork_exec)),
    (subprocess, "_time", clock.monotonic),
    (subprocess.Popen, "_wait", wait),
    (subprocess.Popen, "poll", poll),
    (os, "posix_spawn", _starting(os.posix_spawn)),
    (os, "posix_spawnp", _starting(os.posix_spawnp)),
]
