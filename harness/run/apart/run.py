"""The process that begins such a run and ends it."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from harness.control import collector, files, raw, semaphores
from harness.control.managed import Managed
from harness.errors import UserError
from harness.oracles.aftermath import apart
from harness.oracles.checked import checked
from harness.oracles.probed import probed
from harness.run.execute import NotPlain, Ready, deadlock_finding, decider_of, report_of, set_up
from harness.run.job import Job
from harness.run.life import CLOSED, Lives, end_likewise
from harness.run.outcome import Finding
from harness.run.world import World
from harness.schedule.schedule import Directive, action_of

from .body import LATEST, live
from .remote import IN_VAIN, NOWHERE, RemoteController
from .waits import Elsewhere
from .way import Way

_GIVEN_UP = 0.95  # of the seconds of a scenario: after the processes of bodies have ended themselves
_APART = "with a process for each body, which has none of the memory that others change"
_BETWEEN = (semaphores.Free.title, files.Readiness.title)  # what one process can wake another by


def execute_in_processes(
    job: Job, world: World, tell: Callable[[dict[str, Any]], None], ready: Ready | None = None
) -> dict[str, Any]:
    """The report of such a run, as plain data."""
    began = raw.monotonic()
    scenario, count = world.scenario, job.schedule.threads
    ways = [Way(index) for index in range(count)]
    done_read, done_write = os.pipe()
    with ExitStack() as stack:
        stack.enter_context(collector.on_demand_only())
        shared = ready.shared if ready is not None else stack.enter_context(set_up(scenario, job, None))
        lives = Lives()
        parent = os.getpid()
        faulthandler.cancel_dump_traceback_later()  # its thread would be missing in a child that sets its own
        for index in range(count):
            lives.fork(partial(live, job, world, shared, index, ways, done_write, tell, parent))
        os.close(done_write)
        faulthandler.dump_traceback_later(scenario.seconds, exit=True)
        start = RemoteController(decider_of(job), NOWHERE, -1, ways, free=job.schedule.free)
        start.current = start.threads[job.schedule.first]
        start.current.gate.open()
        final, gone = lives.first(done_read, _GIVEN_UP * scenario.seconds)
        if final is None:
            took = raw.monotonic() - began
            status = lives.end(kill=True, gone=gone).get(gone, 0)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == CLOSED:
                raise UserError(f"a body closed the files through which its process is steered, {_APART}")
            if took < LATEST * scenario.seconds:
                end_likewise(status)
            raise UserError(f"no end within {scenario.seconds:g} s {_APART}")
        start.load(final)
        for way in ways:
            way.close()
        # Where some wait, each holds the way to the others: none would see that nobody comes any more.
        lives.end(kill=bool(start.deadlock) or any(other.adopted for other in start.threads))
        between = next((wait for wait in start.deadlock if _may_be_woken(start.by_name.get(wait.thread))), None)
        if between is not None:
            waits = f"{between.thread} waits for {between.waits_for} at {between.site}"
            raise UserError(f"{waits}: {_APART}, it is not followed which process wakes which")
        if start.in_vain == IN_VAIN:
            waits = ", ".join(f"{wait.thread} for {wait.waits_for} at {wait.site}" for wait in start.deadlock)
            raise UserError(f"no end: {IN_VAIN} time-outs in a row, and nobody woke anybody, {_APART}; waiting: {waits}")
        for part in start.left.values():
            if part["broken"]:
                raise NotPlain(part["broken"])
        return _merge(job, world, shared, start, raw.monotonic() - began)


def _may_be_woken(thread: Managed | None) -> bool:
    """By what another process does, which cannot look at what this one waits for."""
    return thread is not None and isinstance(thread.waiting, Elsewhere) and thread.waiting.title in _BETWEEN


def _merge(job: Job, world: World, shared: Any, control: RemoteController, seconds: float) -> dict[str, Any]:
    names = [f"T{index}" for index in range(job.schedule.threads)]
    left = [control.left.get(name, {}) for name in names]
    findings = [Finding(**item) for part in left for item in part.get("findings", [])]
    results = [part.get("result") for part in left]
    if control.deadlock:
        findings.append(deadlock_finding(control))
    after: dict[str, str] | None = None
    if not control.deadlock:
        at = len(control.log)
        findings += checked(world.scenario, shared, results, at)
        failures, told = probed(world.scenario, shared, at)
        findings += failures
        if world.scenario.compares is not False:
            after = apart(results, told, {name: part.get("after") or {} for name, part in zip(names, left, strict=True)})
    unused = [Directive(t, p, n, action_of(a)) for part in left for t, p, n, a in part.get("unused", [])]
    accesses = sorted((a for part in left for a in part.get("accesses", [])), key=lambda access: access["at"])
    report = report_of(control, findings, results, unused, accesses, seconds)
    report["collections"] = [made for part in left for made in part.get("collections", [])]
    report["pids"] = [part.get("pid", 0) for part in left]
    report["made"] = {name: made for part in left for name, made in part.get("made", {}).items()}
    report["contended"] = sorted({point for part in left for point in part.get("contended", [])})
    return report if after is None else {**report, "after": after}
