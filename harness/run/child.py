"""The forked process that makes one run and writes its report into a pipe."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import sys
import traceback
from typing import Any

from harness.control import raw
from harness.errors import UserError

from . import wire
from .apart import execute_in_processes
from .death import adopt_orphans, die_with_parent
from .execute import NotPlain, Ready, execute, require_plain
from .in_main import execute_in_main
from .job import Job
from .outcome import Finding
from .plain import execute_plain
from .residue import left_by
from .world import World


def _start(managed: Any) -> None:
    raw.start_new_thread(managed.controller.live, (managed,))


def settle(parent: int, noise_fd: int, seconds: float) -> None:
    """What every run does first. ``noise_fd`` takes what the program prints and the stacks of a crash or hang."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent(parent)
    adopt_orphans()
    os.setpgid(0, 0)  # what the program starts and leaves ends with this run
    os.dup2(noise_fd, 1)
    os.dup2(noise_fd, 2)
    faulthandler.enable(noise_fd, all_threads=True)
    faulthandler.dump_traceback_later(seconds, exit=True, file=noise_fd)


def _at(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1:]
    return f" (at {os.path.basename(last[0].filename)}:{last[0].lineno})" if last else ""


def main(world: World, job: Job, parent: int, report_fd: int, noise_fd: int, ready: Ready | None) -> None:
    """Never returns."""
    settle(parent, noise_fd, world.scenario.seconds)
    status, own = 0, os.getpid()

    def tell(message: dict[str, Any]) -> None:
        wire.write(report_fd, message)

    try:
        if job.residue:
            report: dict[str, Any] = {"findings": [], "results": left_by(world, job.fix)}
        elif job.in_main:
            report = execute_in_main(job, world, ready)
        elif job.plain:
            report = execute_plain(job, world)
        elif job.fix != "none" and world.is_per_process(job.fix):
            if job.frames:
                raise UserError(f"{job.fix}: no log of frames where each body has a process of its own")
            report = execute_in_processes(job, world, tell, ready)
        else:
            fix = world.fix(job.fix)
            report = execute(job, world.scenario, world.table, world.backend, fix, _start, tell=tell, ready=ready,
                             home=world.module)
        if os.getpid() != own:  # a body forked where nothing was under control, and came back in the child
            os._exit(0)
        require_plain(report["results"])
        report["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        wire.write(report_fd, report)
    except BaseException as error:
        if os.getpid() != own:
            os._exit(1)
        plain = isinstance(error, (NotPlain, UserError))
        text = str(error) if plain else f"the set-up or a fix raised: {type(error).__name__}: {error}{_at(error)}"
        finding = Finding("setup", text, text, stack=traceback.format_exc().splitlines()[-12:])
        wire.write(report_fd, {"findings": [], "broken": finding.to_json()})
        status = 1
    sys.stdout.flush()
    os._exit(status)
