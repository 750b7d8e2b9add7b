"""Life in a forked child: the thread that forked, alone, still under control."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from .. import active, raw
from ..managed import Status
from ..sparse import Sparse
from .account import plain

if TYPE_CHECKING:
    from ..managed import Managed
    from ..record import Record


def name_of(parent: Managed) -> str:
    parent.forks += 1
    return f"{parent.name}'s child" + (f" {parent.forks}" if parent.forks > 1 else "")


def begin() -> None:
    """The hook of every fork, in the child: other threads are not there, and nothing is scheduled."""
    control, me = active.controller, active.managed()
    if control is None or me is None or control.finished:
        return
    name = name_of(me)
    for other in control.threads:
        if other is not me and other.status is not Status.ENDED:
            other.status = Status.ELSEWHERE
    control.forked = name
    control.decider, control.observer, control.on_switch, control.isolation = Sparse(()), None, None, None
    control.threads, control.by_name, control.by_ident = [me], {name: me}, {raw.get_ident(): me}
    control.log, control.postponed = [], []
    control.locks_at_fork = frozenset(control.lock_use)
    control.account.children, control.account.own = {}, set()
    me.name, me.index, me.forks, me.adopted, me.pending = name, 0, 0, False, []
    me.native_id = raw.get_native_id()


def uses(control: Record, lock: object, me: Managed) -> None:
    """What two threads use is known by its address, which a fork keeps."""
    if id(lock) in control.locks_at_fork and (key := (id(lock), me.root)) not in control.account.used:
        control.account.used.add(key)
        control.account.tell(me.name, used=key)


def deadlocked(control: Record) -> NoReturn:
    """It stays as it is, as it would without control; the run is told."""
    assert control.forked
    control.account.tell(control.forked, waits=plain(control.deadlock))
    while True:
        raw.sleep(3600.0)


def leave(control: Record, me: Managed) -> NoReturn:
    """The function that forked has returned in the child, or raised: the end of its process."""
    assert control.forked
    error = me.error
    if error is not None and not isinstance(error, SystemExit):
        from harness.run.outcome import of_error

        control.account.tell(control.forked, findings=[of_error(error, control.forked, 0).to_json()])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status_of(error))


def status_of(error: BaseException | None) -> int:
    """With which a process ends whose main code ended so."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return int(error is not None)
