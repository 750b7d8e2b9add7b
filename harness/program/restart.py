"""Runs that begin at the program's beginning: slower, and needed where what comes before its first thread cannot be shared
(threads of C code; files and folders that a run makes, changes or removes)."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import select
import signal
import socket
from collections.abc import Callable
from typing import Any

from harness.errors import CannotTest, UserError
from harness.run import wire
from harness.run.child import settle
from harness.run.job import Job
from harness.run.zygote import Zygote, serve

from .begin import Forked, begin, carried_out, nothing_started
from .command import Command
from .one import Run
from .world import ProgramWorld


class _Server(Zygote):
    def _in_child(self, job: Job, report_fd: int, noise_fd: int) -> None:
        self._forget()
        settle(self.pid, noise_fd, self.world.scenario.seconds)
        raise Forked(Run(job, report_fd))


def serve_from_the_beginning(
    client: socket.socket, command: Command, make: Callable[..., ProgramWorld], parent: int, program: Callable[[], None]
) -> None:
    """Raises CannotTest where the program, run once to see, starts no thread."""
    about = _seen(command, make, program)
    world = make(loaded=False)
    try:
        serve(_Server(client, world), about, parent)
    except Forked as forked:
        run = forked.run
    else:
        return
    error = carried_out(program, lambda: begin(run, make()))
    run.end(error)


def _seen(command: Command, make: Callable[[], ProgramWorld], program: Callable[[], None]) -> dict[str, Any]:
    """What the scan finds where the program starts its first thread, from a process that ends there."""
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            _rehearse(command, make, program, write_fd)
        finally:
            os._exit(1)
    os.close(write_fd)
    messages = _first_words(read_fd, pid)
    os.close(read_fd)
    os.waitpid(pid, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # processes that the program had started by then
    if not messages:
        raise CannotTest(f"{command.line}: it ended without a word before it started a thread")
    if "error" in messages[0]:
        raise {"UserError": UserError}.get(messages[0]["kind"], CannotTest)(messages[0]["error"])
    return messages[0]["about"]


def _first_words(read_fd: int, pid: int) -> list[dict[str, Any]]:
    """Not until the pipe is closed: a process that the program has started keeps it open."""
    reader, messages = wire.Reader(), list[dict[str, Any]]()
    while not messages:
        if select.select([read_fd], [], [], 0.2)[0]:
            block = os.read(read_fd, 1 << 18)
            if not block:
                break
            messages += reader.feed(block)
        elif os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            break
    return messages


def _rehearse(command: Command, make: Callable[[], ProgramWorld], program: Callable[[], None], write_fd: int) -> None:
    def at_first_thread() -> None:
        try:
            wire.write(write_fd, {"about": make().about()})
        except (UserError, CannotTest) as error:
            wire.write(write_fd, {"error": str(error), "kind": type(error).__name__})
        os._exit(0)

    faulthandler.dump_traceback_later(command.seconds, exit=True)
    error = carried_out(program, at_first_thread)
    why = nothing_started(command, error)
    wire.write(write_fd, {"error": str(why), "kind": type(why).__name__})
    os._exit(0)
