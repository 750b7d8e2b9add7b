"""What the threads of a pipeline know of each other: who works, who waits, whether to stop and why.

One lock and one condition for all of it: a step has a few dozen hand-overs, and one lock can't be taken in a
wrong order.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_POLL = 0.2  # seconds; also how soon an interrupt is noticed


class Stopped(Exception):
    """The pipeline is being stopped; raised in whoever waits."""


class NoSignOfLife(Exception):
    """A worker has been at the same piece of work for longer than the pipeline's patience."""


@dataclass
class Failure:
    """What ended the pipeline: the worker's name, its work, the error."""

    who: str
    doing: str
    error: BaseException


@dataclass
class _Member:
    thread: threading.Thread
    doing: str | None  # None: waits
    since: float
    waited: float = 0.0
    ended: bool = False


class Board:
    """Shared by all threads of one pipeline.

    Invariant: a wait ends because what is waited for is there, because the pipeline stops, or because some
    worker is lost, which stops it.
    """

    def __init__(self, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.condition = threading.Condition()
        self.patience, self.clock = patience, clock
        self.failure: Failure | None = None
        self.stopping = False
        self.interrupted = False  # set by a signal handler, which must not take a lock
        self.members: dict[str, _Member] = {}

    def join(self, name: str) -> None:
        """The calling thread is a worker from here on."""
        with self.condition:
            me = _Member(threading.current_thread(), "starts", self.clock())
            self.members = {**self.members, name: me}  # never changed in place: it is read without the lock

    def leave(self, name: str) -> None:
        with self.condition:
            self.members[name].ended = True
            self.condition.notify_all()

    def does(self, what: str) -> None:
        """Sign of life: the calling worker begins a piece of work."""
        me = self._me()
        if me is not None:
            me.doing, me.since = what, self.clock()

    def fail(self, who: str, error: BaseException) -> None:
        """The first failure is kept as the cause; everyone who waits is stopped."""
        with self.condition:
            if self.failure is None and not self.stopping:
                member = self.members.get(who)
                self.failure = Failure(who, (member.doing if member else None) or "waits", error)
            self.stopping = True
            self.condition.notify_all()

    def stop(self) -> None:
        with self.condition:
            self.stopping = True
            self.condition.notify_all()

    def wait(self, ready: Callable[[], bool]) -> None:
        """Until `ready()`, with the condition held. Raises Stopped, and KeyboardInterrupt after an interrupt."""
        began = self.clock()
        me = self._me()
        if me is not None:
            me.doing = None
        try:
            while True:
                if self.interrupted and me is None:  # the coordinator ends it for all
                    raise KeyboardInterrupt
                if self.stopping:
                    raise Stopped
                if ready():
                    return
                self._look_for_the_lost()
                self.condition.wait(_POLL)
        finally:
            now = self.clock()
            if me is not None:
                me.doing, me.since = "goes on", now
                me.waited += now - began

    def _me(self) -> _Member | None:
        current = threading.current_thread()
        return next((m for m in self.members.values() if m.thread is current), None)

    def _look_for_the_lost(self) -> None:
        now = self.clock()
        for name, member in self.members.items():
            if member.ended:
                continue
            if not member.thread.is_alive():
                self.fail(name, NoSignOfLife("the thread is gone"))
            elif member.doing is not None and now - member.since > self.patience:
                at = _place(member.thread)
                text = f"no sign of life for {now - member.since:.0f} s at {at} (pipeline.patience)"
                self.fail(name, NoSignOfLife(text))

    @contextmanager
    def at_work(self, name: str) -> Iterator[None]:
        """Around a worker's loop: what it raises stops the pipeline, with its name."""
        self.join(name)
        try:
            yield
        except Stopped:
            pass
        except BaseException as error:
            self.fail(name, error)
        finally:
            self.leave(name)


def _place(thread: threading.Thread) -> str:
    frame = sys._current_frames().get(thread.ident or 0)
    if frame is None:
        return "an unknown place"
    last = traceback.extract_stack(frame)[-1]
    return f"{last.filename}:{last.lineno} in {last.name}"
