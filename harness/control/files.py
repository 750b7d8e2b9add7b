"""Waiting until a file is ready, under control: what ``asyncio``, ``multiprocessing`` pools and pipes between threads block on.

A thread that waits for a file is looked after at every point: what another thread of the run wrote makes it ready there, so it
does not depend on time. Where nobody else can run the kernel is asked, since another process may write.
"""

from __future__ import annotations

import os
import select
import selectors
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import active, raw
from .forks.clocked import rest
from .locks import site
from .managed import Status

if TYPE_CHECKING:
    from .managed import Managed
    from .record import Record

READ, _WRITE = select.POLLIN | select.POLLPRI, select.POLLOUT


class Readiness:
    """One of these files is ready. ``files``: (descriptor, events of ``select.poll``)."""

    title = "a file to be ready"

    def __init__(self, files: Iterable[tuple[int, int]]) -> None:
        self.files = list(files)

    def now(self) -> bool:
        return ready([self], 0.0)


def ready(waits: Sequence[Readiness], timeout: float | None) -> bool:
    """Is a file of any of them ready within that many seconds of the kernel's time?"""
    poll = select.poll()
    for wait in waits:
        for descriptor, events in wait.files:
            poll.register(descriptor, events)
    rest = [wait for wait in waits if not wait.files]
    if not rest:
        return bool(poll.poll(None if timeout is None else timeout * 1000))
    began = raw.monotonic()
    while not (any(wait.now() for wait in rest) or poll.poll(0)):
        if timeout is not None and raw.monotonic() - began >= timeout:
            return False
        raw.sleep(0.001)
    return True


def wait_for(me: Managed, files: Iterable[tuple[int, int]], name: str, timeout: float | None = None) -> None:
    """Returns once one is ready, or the time is over."""
    wait_on(me, Readiness(files), name, timeout)


def wait_on(me: Managed, wait: Readiness, name: str, timeout: float | None = None) -> bool:
    """False: its time-out came first."""
    control = me.controller
    if wait.now():
        if name == "select":  # a read takes away what is there
            others = _others(me)
            if me.ready_at == others:
                control.block(me, _Turn(), name, site.using(3)[1], float("inf"))
            me.ready_at = others
        return True
    control.on_files.append(me)
    try:
        return control.block(me, wait, name, site.using(3)[1], timeout)
    finally:
        control.on_files.remove(me)


class _Turn:
    """Ready again, and nobody else has run since: it is another thread that must read it."""

    title = "others to go on"


def _others(me: Managed) -> int:
    """How many points threads other than ``me`` have passed."""
    return sum(sum(other.counts.values()) for other in me.controller.threads if other is not me)


def look(control: Record) -> None:
    """Those whose file is ready by now may go on."""
    for other in control.on_files:
        if other.status is Status.BLOCKED and isinstance(other.waiting, Readiness) and other.waiting.now():
            other.status, other.waiting = Status.READY, None


def wait(control: Record) -> bool:
    """Nobody can run: does another process make a file ready, before a time-out ends that is virtual?"""
    waits = [other.waiting for other in control.on_files if isinstance(other.waiting, Readiness)]
    if not waits:
        return False
    ends = [other.deadline for other in control.threads if other.status is Status.BLOCKED and other.deadline is not None]
    if not ends:
        return ready(waits, None)
    if control.forked is not None:  # the parent's time is not virtual
        return ready(waits, max(0.0, min(ends) - control.clock))
    control.account.settle()
    return ready(waits, 0.0)


def read(fd: int, length: int) -> bytes:
    me = active.managed()
    if me is not None and os.get_blocking(fd):
        wait_for(me, [(fd, READ)], "os.read")
    return raw.read(fd, length)


def _of_programs(me: Managed, timeout: float | None) -> None:
    """Whether one that the run started has written by now would be a matter of time: it does first what it does by itself."""
    for program in me.controller.account.programs():
        rest(program.pid, float("inf") if timeout is None else timeout)


def _files_of(selector: selectors.BaseSelector) -> list[tuple[int, int]]:
    found = []
    for key in (selector.get_map() or {}).values():
        events = (READ if key.events & selectors.EVENT_READ else 0) | (_WRITE if key.events & selectors.EVENT_WRITE else 0)
        found.append((key.fd, events))
    return found


def selecting(real: Callable[..., Any]) -> Callable[..., Any]:
    """The method ``select`` of a class of ``selectors``, under control."""

    def select(self: Any, timeout: float | None = None) -> Any:
        me = active.managed()
        if me is None or (timeout is not None and timeout <= 0):
            return real(self, timeout)
        _of_programs(me, timeout)
        wait_for(me, _files_of(self), "select", timeout)
        return real(self, 0)

    return select


def select_(rlist: Any, wlist: Any, xlist: Any, timeout: float | None = None) -> Any:
    me = active.managed()
    if me is None or (timeout is not None and timeout <= 0):
        return raw.select(rlist, wlist, xlist, timeout)
    _of_programs(me, timeout)
    files = [(_number(file), READ) for file in rlist] + [(_number(file), _WRITE) for file in wlist]
    wait_for(me, files + [(_number(file), select.POLLPRI) for file in xlist], "select", timeout)
    return raw.select(rlist, wlist, xlist, 0)


def _number(file: Any) -> int:
    return file if isinstance(file, int) else int(file.fileno())


#: (where, name, replacement), as in :mod:`harness.control.install`.
TABLE: list[tuple[Any, str, Any]] = [
    (os, "read", read),
    (select, "select", select_),
    (selectors.SelectSelector, "select", selecting(selectors.SelectSelector.select)),
    (selectors.PollSelector, "select", selecting(selectors.PollSelector.select)),
    (selectors.EpollSelector, "select", selecting(selectors.EpollSelector.select)),
]
