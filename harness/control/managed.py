"""One thread under control."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from . import raw

if TYPE_CHECKING:
    from .actions import Asked
    from .controller import Controller


class Status(Enum):
    READY = "ready"  # may be given the baton (or has it)
    BLOCKED = "blocked"  # waits for something another thread must do
    IN_C = "blocked in C"  # waits where we cannot see; comes back by itself
    ENDED = "ended"
    ELSEWHERE = "left in the parent"  # in a forked child: a thread that did not fork


class Gate(Protocol):
    """Where a thread waits for the baton."""

    def wait(self) -> None: ...

    def open(self) -> None: ...


class ThreadGate:
    """A binary semaphore within one process."""

    __slots__ = ("open", "wait")

    def __init__(self) -> None:
        lock = raw.allocate_lock()
        lock.acquire()
        self.wait: Callable[[], Any] = lock.acquire
        self.open: Callable[[], Any] = lock.release


class Managed:
    """The record of one thread.

    name     stable: ``T0``, ``T1``, … for bodies, ``T0.1`` for the first thread that T0 starts
    root     index of the body it descends from
    acts_for its own index; of a thread of C code that of the thread which waits for it: the two never run side by side
    counts   how often each point has been passed by this thread
    places   how many places the interpreter could have given up the GIL at, as far as we can see
    muted    it runs the decider's code, which has no points and no places
    pending  what a directive asked for and has found no place yet
    ready_at how many points others had passed when it last found a file ready at once
    kept     the process waits for it at its end: not a daemon
    parked   it waits at its gate, or has not yet noticed that this was opened
    """

    __slots__ = (
        "acts_for",
        "adopted",
        "armed",
        "blocked_name",
        "body",
        "born_count",
        "borrowed",
        "calls",
        "controller",
        "counts",
        "deadline",
        "error",
        "error_at",
        "expired",
        "forks",
        "gate",
        "ident",
        "index",
        "kept",
        "muted",
        "name",
        "native_id",
        "parked",
        "pending",
        "places",
        "ready_at",
        "result",
        "root",
        "status",
        "thread",
        "waiting",
        "where",
    )

    def __init__(self, controller: Controller, index: int, name: str, root: int, gate: Gate) -> None:
        self.controller = controller
        self.index = index
        self.name = name
        self.root = root
        self.acts_for = index
        self.gate = gate
        self.ident = 0
        self.native_id = 0
        self.status = Status.READY
        self.parked = False
        self.waiting: Any = None
        self.where = ""
        self.blocked_name = ""
        self.deadline: float | None = None
        self.expired = False
        self.counts: dict[str, int] = {}
        self.places = 0
        self.ready_at = -1
        self.calls = 0
        self.muted = False
        self.armed: Any = None
        self.pending: list[Asked] = []
        self.born_count = 0
        self.forks = 0
        self.borrowed: list[Any] = []
        self.adopted = False
        self.body: Callable[[], Any] | None = None
        self.thread: Any = None
        self.kept = False
        self.result: Any = None
        self.error: BaseException | None = None
        self.error_at = 0

    def park(self) -> None:
        """Wait for the baton."""
        self.parked = True
        self.gate.wait()
        self.parked = False
