"""The process that a program's runs are forked from: the program itself, stopped where it starts its first thread.

Up to there one thread runs, and every run would do the same; there all its modules are loaded and can be scanned. A run
is a fork that goes on. Where that cannot be (C code has started threads already, or the program is to begin anew each
time because it uses what lies outside the process), runs are forked before its beginning.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import random
import signal
import socket
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from harness.errors import CannotTest, NeedsRestart, UserError
from harness.run import wire
from harness.run.child import settle
from harness.run.death import children, kill_children
from harness.run.job import Job
from harness.run.warm import assert_single_threaded
from harness.run.zygote import Zygote, serve

from .begin import Forked, begin, carried_out, nothing_started
from .command import Command, from_reference
from .one import Run
from .restart import serve_from_the_beginning
from .start import loaded
from .world import ProgramWorld

_PREFIX_SECONDS = 600.0  # for what comes before the first thread


class _Server(Zygote):
    def _launch(self, message: dict[str, Any]) -> None:
        with _threads_kept():
            super()._launch(message)  # never returns in the child

    def _in_child(self, job: Job, report_fd: int, noise_fd: int) -> None:
        self._forget()
        settle(self.pid, noise_fd, self.world.scenario.seconds)
        raise Forked(Run(job, report_fd))


@contextlib.contextmanager
def _threads_kept() -> Iterator[None]:
    """Over a fork :mod:`threading` declares every other thread ended, those too that have not begun; and thread pools
    take a lock, which a pool that starts its first thread has already."""
    held = threading._limbo, threading._dangling  # type: ignore[attr-defined]
    state = random.getstate()
    lock = getattr(sys.modules.get("concurrent.futures.thread"), "_global_shutdown_lock", None)
    starting = lock is not None and lock.locked()
    if lock is not None and starting:
        lock.release()
    threading._limbo, threading._dangling = {}, weakref.WeakSet()  # type: ignore[attr-defined]
    try:
        yield
    finally:
        threading._limbo, threading._dangling = held  # type: ignore[attr-defined]
        if lock is not None and starting:
            lock.acquire()
        random.setstate(state)  # a fork gets a seed of its own
        new = getattr(threading, "_ThreadHandle", None)  # from 3.13: declared done in C
        for thread in list(held[1]):
            if new is not None and not thread._started.is_set():
                thread._handle = new()


def main(client: socket.socket, reference: str, free: bool, parent: int, fixes: Sequence[str]) -> None:
    """Talks over ``client`` like :mod:`harness.run.zygote`, as :mod:`harness.parent` starts it."""
    try:
        command = from_reference(reference)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as a program has it; no terminal reaches it here
        program = loaded(command)
        world = partial(ProgramWorld, command, free, fixes)
        if command.restart:
            serve_from_the_beginning(client, command, world, parent, program)
        else:
            _serve_at_first_thread(client, command, world, parent, program)
    except (UserError, CannotTest) as error:
        refuse(client, error)


def refuse(client: socket.socket, error: Exception) -> None:
    with contextlib.suppress(OSError):
        client.sendall(wire.pack({"error": str(error), "kind": type(error).__name__}))


def _serve_at_first_thread(
    client: socket.socket, command: Command, make: Callable[[], ProgramWorld], parent: int, program: Callable[[], None]
) -> None:
    run: Run | None = None
    ours = _channels()

    def at_first_thread() -> None:
        nonlocal run
        try:
            faulthandler.cancel_dump_traceback_later()
            world = make()
            assert_single(command, ours)
        except (UserError, CannotTest) as error:
            refuse(client, error)
            kill_children()
            os._exit(0)
        try:
            serve(_Server(client, world), world.about(), parent)
        except Forked as forked:
            run = forked.run
            begin(run, world)
            return
        os._exit(0)

    faulthandler.dump_traceback_later(_PREFIX_SECONDS, exit=True)
    error = carried_out(program, at_first_thread)
    if run is None:
        raise nothing_started(command, error)
    run.end(error)


def _channels() -> frozenset[tuple[str, str]]:
    """(number, what it is) of open files through which two processes would take from each other what was sent."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the folder's own
            what = os.readlink(f"/proc/self/fd/{number}")
            if what.startswith(("pipe:", "socket:", "anon_inode:[event")):
                found.add((number, what))
    return frozenset(found)


def assert_single(command: Command, ours: frozenset[tuple[str, str]]) -> None:
    """Raises NeedsRestart where C code has started threads, or the program processes: they would be missing in a fork; and
    where it has opened channels that all forks would share. ``ours``: those that were open before."""
    try:
        assert_single_threaded("the program")
    except UserError:
        raise NeedsRestart(
            f"{command.line}: C code has started threads before the program starts its first; use --restart"
        ) from None
    if children():  # a fork is not their parent, and cannot wait for them
        raise NeedsRestart(f"{command.line}: it has started processes before it starts its first thread; use --restart")
    if _channels() - ours:
        what = "it has opened a pipe, a socket or an event loop before it starts its first thread"
        raise NeedsRestart(f"{command.line}: {what}, which all runs would share; use --restart")
