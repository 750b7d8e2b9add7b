"""Waiting for a forked child under control.

A child has its own memory: as long as it runs by itself, it makes no difference to other threads when, and the thread that
waits keeps the baton. Where it sleeps, because it needs something of this process, others go on first.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .. import active, raw
from ..locks import site
from ..managed import Managed
from .account import Child
from .asleep import settle
from .clocked import rest

_ALL = -1


def wait() -> Any:
    return _waited(_ALL, 0, lambda options: raw.waitpid(-1, options), raw.wait)


def wait3(options: int) -> Any:
    return _waited(_ALL, options, raw.wait3, lambda: raw.wait3(options))


def wait4(pid: int, options: int) -> Any:
    return _waited(pid, options, lambda flags: raw.wait4(pid, flags), lambda: raw.wait4(pid, options))


def waitpid(pid: int, options: int) -> Any:
    return _waited(pid, options, lambda flags: raw.waitpid(pid, flags), lambda: raw.waitpid(pid, options))


def waitid(idtype: int, id: int, options: int) -> Any:
    pid = id if idtype == os.P_PID else _ALL
    return _waited(pid, options, lambda flags: raw.waitid(idtype, id, flags), lambda: raw.waitid(idtype, id, options))


def _waited(pid: int, options: int, call: Callable[[int], Any], real: Callable[[], Any]) -> Any:
    """``call`` is given the options; ``real`` is for a thread that nobody controls, or for processes that no run forked."""
    me = active.managed()
    if me is None:
        return real()
    account = me.controller.account
    here = [account.children[own] for own in account.own if account.children[own].status is None]
    mine = [child for child in here if pid <= 0 or child.pid == pid]
    if not mine:
        return real()
    me.controller.point_here(me, "wait")
    made = _until(me, mine, options, call)
    if not options & os.WNOWAIT:
        _note(mine, made)
    return made


def _until(me: Managed, mine: list[Child], options: int, call: Callable[[int], Any]) -> Any:
    account = me.controller.account
    place = site.using(2)[1]
    others = True  # may be able to go on
    while True:
        for child in mine:  # all of them, or who is first would be a matter of time
            if not child.program:
                settle(child.pid)
            elif not options & os.WNOHANG:
                rest(child.pid)
        made = call(options | os.WNOHANG)
        if _pid(made) or options & os.WNOHANG:
            return made
        account.read()
        if all(child.waits for child in mine):
            me.controller.block(me, mine[0], "wait", place)  # nobody wakes it
        elif others:
            others = me.controller.block(me, mine[0], "wait", place, float("inf"))


def _pid(made: Any) -> int:
    """0 where no child has ended."""
    if made is None:
        return 0
    return int(made.si_pid if hasattr(made, "si_pid") else made[0])


def _note(mine: list[Child], made: Any) -> None:
    for child in mine:
        if child.pid == _pid(made):
            child.status = made[1] if not hasattr(made, "si_pid") else 0
