"""A run with each body in a process of its own: the same schedule, the baton over pipes.

The processes are forked after set-up, so each has its copy of everything. Whoever gives the baton on sends with it
all that the controllers must agree on: the log, who may run, what the decider knows.
"""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from typing import Any

from harness.control import active, collector, files, raw, semaphores
from harness.control.actions import Asked, Collect, Decider, HandOver
from harness.control.blocked import WaitReport
from harness.control.controller import Abandoned, Controller, Switch
from harness.control.managed import Managed, Status
from harness.control.shield import shield
from harness.control.sparse import Sparse
from harness.errors import UserError
from harness.oracles.aftermath import Aftermath, apart
from harness.oracles.checked import checked
from harness.oracles.leaked import leaks
from harness.oracles.probed import probed
from harness.oracles.unraisable import reported
from harness.schedule.schedule import Directive, action_of
from harness.states.values import snapshot

from . import wire
from .death import die_with_parent
from .execute import NotPlain, Ready, deadlock_finding, decider_of, report_of, require_plain, set_up, teller
from .job import Job
from .life import CLOSED, Lives, end_likewise
from .observe import Observer
from .outcome import Finding, of_error
from .world import World

_LATEST = 0.9  # of the scenario's seconds: a body's process ends before the run's does, which tells
_APART = "with a process for each body, which has none of the memory that others change"
_BETWEEN = (semaphores.Free.title, files.Readiness.title)  # what one process can wake another by
_IN_VAIN = 1000  # time-outs in a row, between which no body woke another: each waits for what the others can't give it


class Elsewhere:
    """What a thread of another process waits for."""

    def __init__(self, title: str) -> None:
        self.title = title


class PipeGate:
    """The baton's way to one process: a pipe, and the common state as the message."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.read_fd, self.write_fd = os.pipe()
        self.control: RemoteController | None = None

    def wait(self) -> None:
        assert self.control is not None
        with shield():
            reader = wire.Reader()
            while True:
                block = raw.read(self.read_fd, 1 << 16)
                if not block:
                    os._exit(1)
                messages = reader.feed(block)
                if messages:
                    self.control.load(messages[0])
                    return

    def open(self) -> None:
        assert self.control is not None
        with shield():
            wire.write(self.write_fd, self.control.dump(self.index))


class RemoteController(Controller):
    """The controller of one of the processes; ``mine`` is the only thread that runs here."""

    def __init__(self, decider: Decider, mine: int, done_fd: int, gates: list[PipeGate], **options: Any) -> None:
        super().__init__(decider, **options)
        self.mine = mine
        self.done_fd = done_fd
        #: what threads that ended leave: result, findings, unused directives, accesses
        self.left: dict[str, dict[str, Any]] = {}
        #: how much of the log each process has: it is sent the rest, since the whole at every hand-over would be quadratic
        self.known = [0] * len(gates)
        #: time-outs in a row, up to ``_IN_VAIN``, where the run ends
        self.in_vain = 0
        for index, gate in enumerate(gates):
            gate.control = self
            self.add(f"T{index}", index, gate)

    def dump(self, to: int | None = None) -> dict[str, Any]:
        """For process ``to``; None is the one that has nothing yet."""
        begin = self.known[to] if to is not None else 0
        if self.mine >= 0:
            self.known[self.mine] = len(self.log)
        return {
            "begin": begin,
            "log": self.log[begin:],
            "known": self.known,
            "switches": [[s.thread, s.key, s.n, _named(s.action), s.forced, s.position] for s in self.switches],
            "choices": self.choices,
            "void": len(self.void),
            "clock": self.clock,
            "current": self.current.index if self.current is not None else -1,
            "threads": [
                [t.status.value, t.deadline, t.expired, t.where, t.blocked_name, getattr(t.waiting, "title", "")] for t in self.threads
            ],
            "decider": self.decider.dump() if hasattr(self.decider, "dump") else None,
            "left": self.left,
            "deadlock": [vars(wait) for wait in self.deadlock],
            "in_vain": self.in_vain,
        }

    def load(self, state: dict[str, Any]) -> None:
        self.log[state["begin"] :] = [(thread, key, place) for thread, key, place in state["log"]]
        self.known = state["known"]
        self.switches = [Switch(t, k, n, action_of(a), f, p) for t, k, n, a, f, p in state["switches"]]
        self.choices = [(at, chosen, others) for at, chosen, others in state["choices"]]
        self.void = [Asked(HandOver(""), "", 0)] * state["void"]
        self.clock = state["clock"]
        self.current = self.threads[state["current"]] if state["current"] >= 0 else None
        for thread, (status, deadline, expired, where, name, title) in zip(self.threads, state["threads"], strict=True):
            thread.status, thread.deadline, thread.expired = Status(status), deadline, expired
            if thread.index != self.mine:
                thread.where, thread.blocked_name, thread.waiting = where, name, Elsewhere(title) if title else None
        if state["decider"] is not None:
            self.decider.load(state["decider"])  # type: ignore[attr-defined]
        self.left = state["left"]
        self.deadlock = [WaitReport(**wait) for wait in state["deadlock"]]
        self.in_vain = state["in_vain"]

    def add(self, name: str, root: int, gate: Any = None) -> Managed:
        if gate is None:
            raise RuntimeError("a body that starts threads of its own cannot be run with a process for each body")
        return super().add(name, root, gate)

    def _next(self, me: Managed, key: str) -> Managed | None:
        to = super()._next(me, key)
        self.in_vain = self.in_vain + 1 if to is not None and to.expired else 0
        return to if self.in_vain < _IN_VAIN else None  # as where none can go on

    def _finish(self) -> None:
        self.finished = True
        self.current = None
        wire.write(self.done_fd, self.dump())


def _named(action: HandOver | Collect) -> str:
    return action.target if isinstance(action, HandOver) else f"gc{action.generation}"


def execute_in_processes(
    job: Job, world: World, tell: Callable[[dict[str, Any]], None], ready: Ready | None = None
) -> dict[str, Any]:
    """The report of such a run, as plain data."""
    began = raw.monotonic()
    scenario, count = world.scenario, job.schedule.threads
    gates = [PipeGate(index) for index in range(count)]
    done_read, done_write = os.pipe()
    with ExitStack() as stack:
        stack.enter_context(collector.on_demand_only())
        shared = ready.shared if ready is not None else stack.enter_context(set_up(scenario, job, None))
        lives = Lives()
        parent = os.getpid()
        faulthandler.cancel_dump_traceback_later()  # its thread would be missing in a child that sets its own
        for index in range(count):
            lives.fork(partial(_one, job, world, shared, index, gates, done_write, tell, parent))
        os.close(done_write)
        faulthandler.dump_traceback_later(scenario.seconds, exit=True)
        start = RemoteController(decider_of(job), -1, -1, gates, free=job.schedule.free)
        start.current = start.threads[job.schedule.first]
        start.current.gate.open()
        final, gone = lives.first(done_read)
        if final is None:
            took = raw.monotonic() - began
            status = lives.end(kill=True, gone=gone)[gone]
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == CLOSED:
                raise UserError(f"a body closed the files through which its process is steered, {_APART}")
            if took < _LATEST * scenario.seconds:
                end_likewise(status)
            raise UserError(f"no end within {scenario.seconds:g} s {_APART}")
        start.load(final)
        for gate in gates:
            os.close(gate.write_fd)
            os.close(gate.read_fd)
        lives.end(kill=bool(start.deadlock))  # then each holds the way to the others: none would see that nobody comes any more
        between = next((wait for wait in start.deadlock if wait.waits_for in _BETWEEN), None)
        if between is not None:
            waits = f"{between.thread} waits for {between.waits_for} at {between.site}"
            raise UserError(f"{waits}: {_APART}, it is not followed which process wakes which")
        if start.in_vain == _IN_VAIN:
            waits = ", ".join(f"{wait.thread} for {wait.waits_for} at {wait.site}" for wait in start.deadlock)
            raise UserError(f"no end: {_IN_VAIN} time-outs in a row, and nobody woke anybody, {_APART}; waiting: {waits}")
        for part in start.left.values():
            if part["broken"]:
                raise NotPlain(part["broken"])
        return _merge(job, world, shared, start, raw.monotonic() - began)


def _one(job: Job, world: World, shared: Any, index: int, gates: list[PipeGate], done_fd: int, tell: Any, parent: int) -> None:
    """The life of the process of body ``index``."""
    die_with_parent(parent)
    nowhere = os.open(os.devnull, os.O_WRONLY)  # what the run says of that is one line
    faulthandler.dump_traceback_later(_LATEST * world.scenario.seconds, exit=True, file=nowhere)
    for other, gate in enumerate(gates):
        if other != index:
            os.close(gate.read_fd)
    os.close(gates[index].write_fd)
    observer = Observer() if job.detail else None
    decider = decider_of(job)
    control = RemoteController(
        decider, index, done_fd, gates, free=job.schedule.free, observer=observer, backend=world.backend
    )
    control.on_switch = teller(tell)
    if observer is not None:
        observer.controller = control
    me = control.threads[index]
    before = snapshot(world.table.save_restore)
    aftermath = None if world.scenario.compares is False else Aftermath(world.table, world.module)

    def body() -> Any:
        findings: list[Finding] = []
        result = None
        try:
            with reported(control, findings):
                result = world.scenario.body(index)(shared)
        except Abandoned:
            raise
        except BaseException as error:
            findings.append(of_error(error, me.name, len(control.log)))
        findings += leaks(before, snapshot(world.table.save_restore), len(control.log))
        unused = decider.unused() if isinstance(decider, Sparse) else []
        broken = ""
        try:
            require_plain([result], index)
        except NotPlain as error:
            result, broken = None, str(error)
        control.left[me.name] = {
            "result": result,
            "broken": broken,
            "findings": [finding.to_json() for finding in findings],
            "unused": [[d.thread, d.point, d.n, d.does] for d in unused if d.thread == me.name and d.point != "end"],
            "accesses": observer.accesses if observer is not None else [],
            "collections": [asdict(made) for made in control.collections],
            "made": control.made.told(),
            "after": aftermath.told(shared, [result], {}) if aftermath is not None else None,
            "pid": os.getpid(),
        }
        return result

    me.body = body
    active.controller = control
    control.live(me)


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
    return report if after is None else {**report, "after": after}
