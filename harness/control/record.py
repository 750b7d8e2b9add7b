"""What a controller knows of its run: the threads, what they passed, and what happened.

Of all managed threads only ``current`` runs Python code; the others are parked in their gate. All fields are therefore touched
by one thread at a time and need no lock, and a finalizer that runs during a collection may re-enter the controller through a
cooperative lock.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from . import collect, raw
from .actions import Action, Asked, Decider
from .blocked import WaitReport
from .forks import Account
from .frames import Frames
from .isolate import Isolation
from .made import Made
from .managed import Managed
from .switch import Switch


class Record:
    """free     hand over right at the point, as a free-threaded interpreter could; otherwise only at places where
             this interpreter can give up the GIL
    observer called at every state access with (thread, keys, frame), for explanations
    """

    def __init__(self, decider: Decider, *, free: bool = False, observer: Any = None, backend: Any = None) -> None:
        self.decider = decider
        self.free = free
        self.observer = observer
        self.backend = backend
        self.isolation: Isolation | None = None
        self.frames: Frames | None = None
        #: with one body, each thread that it starts stands for itself: its own values, its own use of locks
        self.apart = False
        self.attached = False
        #: ids of locks with which threading starts and ends threads; that two threads use them is no news
        self.plumbing: set[int] = set()
        self.made = Made()
        #: those that wait for a file
        self.on_files: list[Managed] = []
        self.account = Account()
        #: in a forked child: its name, and which locks were in use at the fork
        self.forked: str | None = None
        self.locks_at_fork: frozenset[int] = frozenset()
        self.threads: list[Managed] = []
        self.by_name: dict[str, Managed] = {}
        self.by_ident: dict[int, Managed] = {}
        self.current: Managed | None = None
        #: (thread index, point, places passed by then) in order: the point sequence of the run.
        self.log: list[tuple[int, str, int]] = []
        self.switches: list[Switch] = []
        #: where a thread could not go on and several could: (length of the log before, who was chosen, the others), by index
        self.choices: list[tuple[int, int, list[int]]] = []
        self.collections: list[collect.Collection] = []
        self.collected_itself = False  # the program made a full collection of its own
        self.postponed: list[collect.Collection] = []
        self.void: list[Asked] = []
        self.uncontrolled: list[str] = []
        self.deadlock: list[WaitReport] = []
        self.timed = False  # some thread waited with a time-out, or slept
        self.clock = 0.0
        self.abandoned = False
        self.finished = False
        #: told of every switch just before it happens: a run that never reports has told that much
        self.on_switch: Callable[[str, Switch], None] | None = None
        #: lock point -> which threads used a lock through it; lock id -> (threads, points)
        self.lock_use: dict[int, tuple[set[int], set[str], Any]] = {}
        #: id of a condition -> (itself, who gave the last notify that nobody heard, and where)
        self.unheard: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._done = raw.allocate_lock()
        self._done.acquire()

    def _note(self, me: Managed, key: str, n: int, action: Action, forced: bool) -> None:
        switch = Switch(me.index, key, n, action, forced, len(self.log))
        self.switches.append(switch)
        if self.on_switch is not None:
            self.on_switch(me.name, switch)
