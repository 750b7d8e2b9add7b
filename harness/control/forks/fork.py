"""``os.fork`` under control."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import active, raw
from ..actions import Action, Decider
from . import child

if TYPE_CHECKING:
    from ..managed import Managed


class _Meanwhile:
    """What hooks of a fork do (they take locks) follows no directive: in the child the threads to hand over to are gone."""

    def __init__(self, forking: Managed, decider: Decider) -> None:
        self.forking, self.decider = forking, decider
        self.pick = decider.pick

    def at(self, me: Managed, key: str, n: int) -> Sequence[Action]:
        return () if me is self.forking else self.decider.at(me, key, n)


def _forked(real: Callable[[], Any], pid_of: Callable[[Any], int]) -> Any:
    me = active.managed()
    if me is None:
        return real()
    control = me.controller
    control.point_here(me, "fork")
    control.account.open()
    decider, name = control.decider, me.name
    control.decider = _Meanwhile(me, decider)
    try:
        made = real()
    finally:
        if me.name == name:  # not in the child
            control.decider = decider
    pid = pid_of(made)
    if pid:
        control.account.add(pid, child.name_of(me))
    return made


def fork() -> int:
    pid: int = _forked(raw.fork, int)
    return pid


def forkpty() -> tuple[int, int]:
    made: tuple[int, int] = _forked(raw.forkpty, lambda pair: pair[0])
    return made


os.register_at_fork(after_in_child=child.begin)
