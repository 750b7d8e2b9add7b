"""The forking parent: imports torch once, under cooperative locks, and forks a fresh child for every run.

Started by :mod:`harness.parent`, it talks over a socket. It is single-threaded: the state in which every child starts is the
same. A *stage* is a child that has done the set-up and serves a socket of its own in the same way. When its client goes away,
however that happens, it ends, and with it its children and all that they started: what a run leaves behind becomes a child of
this process, and is killed.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import socket
from dataclasses import dataclass, field
from typing import Any

from harness.control import collector, raw

from . import child, memory, stage, wire
from .death import adopt_orphans, children, die_with_parent, kill_children
from .execute import Ready
from .job import Job
from .world import World

_KEPT_NOISE = 65536
_GRACE = 5.0  # seconds beyond the child's own hang limit before it is killed from outside


@dataclass
class _Running:
    number: int
    pid: int
    deadline: float
    open_fds: set[int]
    reader: wire.Reader = field(default_factory=wire.Reader)
    noise: bytearray = field(default_factory=bytearray)
    report: dict[str, Any] | None = None
    killed: bool = False
    switches: list[dict[str, Any]] = field(default_factory=list)


class Zygote:
    def __init__(self, client: socket.socket, world: World, ready: Ready | None = None) -> None:
        self.client = client
        self.world = world
        self.ready = ready
        self.stages: set[int] = set()
        self.requests = wire.Reader()
        self.handed_over: list[int] = []
        self.running: dict[int, _Running] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(client, selectors.EVENT_READ)
        self.pid = os.getpid()
        self.prepared = frozenset(children())  # what the scenario's prepare() may have started for all runs
        self.shared = memory.Shared([], []) if self.prepared else memory.shared()  # with those, it is shared on purpose

    def serve(self) -> None:
        while True:
            for key, _ in self.selector.select(0.5 if self.running else None):
                if key.fd == self.client.fileno():
                    data, files, *_ = socket.recv_fds(self.client, 1 << 20, 4)
                    self.handed_over += files
                    if not data:
                        return
                    for message in self.requests.feed(data):
                        if "stage" in message:
                            self._open_stage(message, self.handed_over.pop(0))
                        else:
                            self._launch(message)
                else:
                    self._read(key.fd, key.data)
            now = raw.monotonic()
            for run in list(self.running.values()):
                if os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                    self._sweep(run.pid)  # what it left would hold its pipes open
                if now > run.deadline and not run.killed:
                    run.killed = True
                    os.kill(run.pid, signal.SIGKILL)

    def _launch(self, message: dict[str, Any]) -> None:
        job = Job.from_json(message["job"])
        report_read, report_write = os.pipe()
        noise_read, noise_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(report_read)
            os.close(noise_read)
            self._in_child(job, report_write, noise_write)
        os.close(report_write)
        os.close(noise_write)
        deadline = raw.monotonic() + self.world.scenario.seconds + _GRACE
        run = _Running(message["number"], pid, deadline, {report_read, noise_read})
        self.running[pid] = run
        self.selector.register(report_read, selectors.EVENT_READ, (run, True))
        self.selector.register(noise_read, selectors.EVENT_READ, (run, False))

    def _in_child(self, job: Job, report_fd: int, noise_fd: int) -> None:
        """The life of a run's process. Never returns."""
        try:
            self._forget()
            self.shared.own()
            child.main(self.world, job, self.pid, report_fd, noise_fd, self.ready)
        finally:
            os._exit(1)

    def _forget(self) -> None:
        """In a child: what is the parent's is closed."""
        self.selector.close()
        self.client.close()
        for other in self.running.values():
            for fd in other.open_fds:
                os.close(fd)

    def _open_stage(self, message: dict[str, Any], fd: int) -> None:
        self.stages = {pid for pid in self.stages if os.waitpid(pid, os.WNOHANG) == (0, 0)}
        pid = os.fork()
        if pid == 0:
            try:
                self._forget()
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                die_with_parent(self.pid)
                adopt_orphans()
                client = socket.socket(fileno=fd)
                ready = stage.make_ready(self.world, Job.from_json(message["stage"]))
                client.sendall(wire.pack({"ready": True}))
                Zygote(client, self.world, ready).serve()
            finally:
                kill_children()
                os._exit(0)  # the client sees that the socket is closed, and lets every run do its set-up
        os.close(fd)
        self.stages.add(pid)

    def _read(self, fd: int, data: tuple[_Running, bool]) -> None:
        run, is_report = data
        block = os.read(fd, 1 << 18)
        if block:
            if is_report:
                for message in run.reader.feed(block):
                    if "switch" in message:
                        run.switches.append(message["switch"])
                    else:
                        run.report = message
            else:
                run.noise += block
                del run.noise[:-_KEPT_NOISE]
            return
        self.selector.unregister(fd)
        os.close(fd)
        run.open_fds.discard(fd)
        if not run.open_fds:
            self._ended(run)

    def _ended(self, run: _Running) -> None:
        _, status = os.waitpid(run.pid, 0)
        del self.running[run.pid]
        report = run.report if run.report is not None else self._lost(run, status)
        if "broken" in report:
            report["noise"] = run.noise.decode(errors="replace")[-4000:]
        self.client.sendall(wire.pack({"number": run.number, "report": report}))

    def _lost(self, run: _Running, status: int) -> dict[str, Any]:
        """A child that said nothing: which way did it go?"""
        noise = run.noise.decode(errors="replace")
        stack = [line.rstrip() for line in noise.splitlines() if line.strip()][-60:]
        if "Timeout (" in noise or run.killed:
            kind, text = "hang", f"no end after {self.world.scenario.seconds:g} s"
        elif os.WIFSIGNALED(status):
            kind = "crash"
            text = f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
        else:
            kind, text = "crash", f"the process left with status {os.WEXITSTATUS(status)} and no report"
        finding = {"kind": kind, "signature": text, "message": text, "thread": "", "stack": stack, "at": 0}
        return {"findings": [finding], "switches": run.switches}

    def _sweep(self, pid: int) -> None:
        """What a run that ended leaves: its process group, and what went out of that and was handed to us. A living
        run keeps what its own descendants leave, so that no child but the runs is another's."""
        with contextlib.suppress(ProcessLookupError):  # it ended before it had a group of its own
            os.killpg(pid, signal.SIGKILL)
        kill_children(spare=self.prepared | self.stages | self.running.keys())


class _ClientGone(BaseException):
    pass


def _gone(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    raise _ClientGone


def serve(zygote: Zygote, about: dict[str, Any], parent: int) -> None:
    """Serve the client until it goes away, then end this process' children. ``parent``: the client's process."""
    gc.collect()
    gc.freeze()  # children share these pages instead of copying them at their first collection
    collector.never_by_itself()
    try:
        signal.signal(signal.SIGTERM, _gone)
        die_with_parent(parent, signal.SIGTERM)  # from here on there may be something to clear away
        zygote.client.sendall(wire.pack({"about": about}))
        try:
            zygote.serve()
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the end of the socket is seen before the signal comes
    except (_ClientGone, BrokenPipeError, ConnectionResetError):
        pass
    finally:
        if os.getpid() == zygote.pid:  # a program's run leaves this function too, and goes on
            kill_children()
