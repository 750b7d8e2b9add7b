"""Processes of which one may end before it has come to its end: a crash, or ``os._exit`` in a body."""

from __future__ import annotations

import faulthandler
import os
import selectors
import signal
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from harness.control import raw

from . import wire

#: Ends a process that lives on without its way; nobody else uses it.
CLOSED = signal.SIGRTMAX


class Lives:
    """Forks processes; of each there is a pipe that is closed when it is gone, with a byte in it if it came to its end."""

    def __init__(self) -> None:
        self.ways: dict[int, int] = {}

    @property
    def children(self) -> list[int]:
        return list(self.ways)

    def fork(self, life: Callable[[], None]) -> None:
        """``life`` is run in a new process."""
        read_fd, write_fd = os.pipe()
        child = os.fork()
        if child == 0:
            ended = False
            try:
                life()
                os.write(write_fd, b".")
                ended = True
            except BaseException:
                traceback.print_exc()  # a defect of ours: told through the run's noise
            finally:
                os._exit(not ended)
        os.close(write_fd)  # before the next fork: that process must not keep this one's way open
        self.ways[child] = read_fd

    def first(self, fd: int, seconds: float) -> tuple[dict[str, Any] | None, int]:
        """The message that comes through ``fd``; or None, and the process that was gone before it came, or 0 where none
        was within so many seconds: what a body's process started may keep its way open."""
        until = raw.monotonic() + seconds
        reader = wire.Reader()
        with selectors.DefaultSelector() as waiting:
            waiting.register(fd, selectors.EVENT_READ)
            for child, way in self.ways.items():
                waiting.register(way, selectors.EVENT_READ, child)
            while True:
                # What was said counts, also where who said it is gone already.
                events = waiting.select(max(0.0, until - raw.monotonic()))
                if not events and raw.monotonic() >= until:
                    return None, 0
                for key, _ in sorted(events, key=lambda event: event[0].data is not None):
                    block = os.read(key.fd, 1 << 18)
                    if key.data is None and (messages := reader.feed(block)):
                        return messages[0], 0
                    if key.data is not None and not block:
                        return None, key.data
                    if key.data is not None or not block:
                        waiting.unregister(key.fileobj)

    def end(self, *, kill: bool, gone: int = 0) -> dict[int, int]:
        """The status of each process, when all have ended. ``gone`` is one that has closed its way: if it has not ended, as
        others do that close it, it ends by ``CLOSED``."""
        statuses = {}
        for child, way in self.ways.items():
            if kill:  # one that is ending already keeps the status that it has
                os.kill(child, CLOSED if child == gone else signal.SIGKILL)
            statuses[child] = os.waitpid(child, 0)[1]
            os.close(way)
        return statuses


def end_likewise(status: int) -> NoReturn:
    """End this process as another one did, whose stacks have been written: whoever waits for this one is told of that."""
    faulthandler.disable()
    if os.WIFSIGNALED(status):
        by = os.WTERMSIG(status)
        if by not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(by, signal.SIG_DFL)
        os.kill(os.getpid(), by)
    os._exit(os.WEXITSTATUS(status))
