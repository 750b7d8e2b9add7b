"""One run of a program, in the process that was forked for it: from its first thread to its end."""

from __future__ import annotations

import atexit
import faulthandler
import os
import resource
import sys
import threading
import traceback
from contextlib import ExitStack

from harness.control import active, collector, raw
from harness.control.attach import attach, detach
from harness.control.controller import Controller
from harness.control.forks.child import status_of
from harness.control.frames import Frames
from harness.control.isolate import Isolation
from harness.control.sparse import Sparse
from harness.errors import UserError
from harness.oracles.leaked import leaks
from harness.oracles.unraisable import reported
from harness.run import wire
from harness.run.execute import deadlock_finding, decider_of, of_children, report_of, teller
from harness.run.job import Job
from harness.run.observe import Observer
from harness.run.outcome import Finding, of_error
from harness.run.residue import left_by
from harness.states.values import snapshot

from .collected import Failed, failed
from .world import ProgramWorld


class Run:
    """``begin`` in the thread that is about to start the program's first thread, ``end`` when it has done all."""

    def __init__(self, job: Job, report_fd: int) -> None:
        self.job = job
        self.report_fd = report_fd
        self.control: Controller | None = None
        self.observer: Observer | None = None
        self.findings: list[Finding] = []
        self.before: dict[str, str] = {}
        self.stack = ExitStack()
        self.began = raw.monotonic()
        self.pid = os.getpid()

    def begin(self, world: ProgramWorld) -> None:
        """Control from here on; nothing for a run on plain threads. Raises what a fix raises."""
        self.world = world
        job, decider = self.job, decider_of(self.job)
        if job.fix != "none" and world.is_per_process(job.fix):
            raise UserError(f"{job.fix}: a program has no bodies that could be processes")
        if job.residue:
            wire.write(self.report_fd, {"findings": [], "results": left_by(world, job.fix)})
            os._exit(0)
        self.observer = Observer() if job.detail else None
        self.decider = decider
        self.control = control = Controller(decider, free=job.schedule.free, observer=self.observer, backend=world.backend)
        if self.observer is not None:
            self.observer.controller = control
        if job.frames:
            control.frames = Frames(control)
            self.stack.enter_context(control.frames.recorded(world.backend))
        self.stack.enter_context(reported(control, self.findings))
        fix = world.fix(job.fix)
        if fix is not None:
            self.stack.enter_context(fix.manager())
        if job.plain:
            return
        self.stack.enter_context(collector.on_demand_only())
        control.on_switch = teller(lambda message: wire.write(self.report_fd, message))
        self.before = snapshot(world.table.save_restore)
        if job.isolate:
            control.isolation = Isolation(job.isolate)
        raw.start_new_thread(self._watch, (control,))
        attach(control, sys._getframe())

    def _watch(self, control: Controller) -> None:
        try:
            control.watch()
            self._report()
        except BaseException:
            traceback.print_exc()  # a defect of ours: told through the run's noise
        finally:
            os._exit(0)

    def end(self, error: BaseException | None) -> None:
        """The program's main code has ended, with ``error`` or without. Never returns."""
        me = active.managed()
        if me is None and os.getpid() != self.pid:  # a child of a run on plain threads
            os._exit(status_of(error))
        try:
            for finish in (_threads, atexit._run_exitfuncs):
                finish()
        except BaseException as worse:
            error = error or worse
        self.findings += of_end(error, len(self.control.log) if self.control is not None else 0)
        if me is None:
            self._report()
            os._exit(0)
        if me.controller.forked is not None:
            me.error = error  # of a child that came to the program's end: its status
        detach(me)
        me.park()  # the watching thread reports, and ends the process

    def broken(self, error: BaseException) -> None:
        text = str(error) if isinstance(error, UserError) else f"a fix raised: {type(error).__name__}: {error}"
        finding = Finding("setup", text, text)
        wire.write(self.report_fd, {"findings": [], "broken": finding.to_json()})
        os._exit(1)

    def _report(self) -> None:
        active.controller = None
        control = self.control or Controller(decider_of(self.job))
        at = len(control.log)
        findings, unused = list(self.findings), []
        if control.deadlock:
            findings.append(deadlock_finding(control))
        for me in control.threads:
            if me.error is not None and not isinstance(me.error, SystemExit):
                findings.append(of_error(me.error, me.name, me.error_at))
        findings += of_children(control)
        if self.before and not control.deadlock:
            findings += leaks(self.before, snapshot(self.world.table.save_restore), at)
        if self.control is not None and not self.job.plain and isinstance(self.decider, Sparse):
            unused = self.decider.unused()
        if unused and not findings:
            text = f"never passed: {unused[0]}"
            findings.append(Finding("not aligned", text, text))
        accesses = self.observer.accesses if self.observer is not None else []
        report = report_of(control, findings, [], unused, accesses, raw.monotonic() - self.began)
        report["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        faulthandler.cancel_dump_traceback_later()
        wire.write(self.report_fd, report)


def _threads() -> None:
    """What the interpreter does at its end: pools are told, and threads that are no daemons waited for."""
    for call in reversed(getattr(threading, "_threading_atexits", [])):
        call()
    me = threading.current_thread()
    while others := [t for t in threading.enumerate() if not t.daemon and t is not me and t.is_alive()]:
        for thread in others:
            thread.join()


def of_end(error: BaseException | None, at: int) -> list[Finding]:
    """What a program's end says: the exceptions of its tests, or its own; an exit status that is not 0 is an error."""
    if failed:
        return [of_error(raised, "T0", at) for _, raised in failed]
    if isinstance(error, SystemExit):
        if error.code in (None, 0):
            return []
        text = f"exit status {int(error.code)}" if isinstance(error.code, int) else f"exit: {str(error.code)[:500]}"
        return [Finding("error", text, text, "T0", at=at)]
    if isinstance(error, Failed):
        return [Finding("error", str(error), str(error), "T0", at=at)]
    return [] if error is None else [of_error(error, "T0", at)]
