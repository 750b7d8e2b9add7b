"""The life of the process of one body, and what it leaves."""

from __future__ import annotations

import faulthandler
import os
from dataclasses import asdict
from typing import Any

from harness.control import active, raw
from harness.control.controller import Abandoned
from harness.control.sparse import Sparse
from harness.oracles.aftermath import Aftermath
from harness.oracles.leaked import leaks
from harness.oracles.unraisable import reported
from harness.run.death import die_with_parent
from harness.run.execute import NotPlain, decider_of, require_plain, teller
from harness.run.job import Job
from harness.run.observe import Observer
from harness.run.outcome import Finding, of_error
from harness.run.world import World
from harness.schedule.schedule import Directive
from harness.states.values import snapshot

from .remote import RemoteController
from .way import Way

LATEST = 0.9  # of the scenario's seconds: a body's process ends before the run's does, which tells


def live(job: Job, world: World, shared: Any, index: int, ways: list[Way], done_fd: int, tell: Any, parent: int) -> None:
    """Returns when body ``index`` has ended; never where it has started threads, which may go on."""
    die_with_parent(parent)
    nowhere = os.open(os.devnull, os.O_WRONLY)  # what the run says of that is one line
    faulthandler.dump_traceback_later(LATEST * world.scenario.seconds, exit=True, file=nowhere)
    for other, way in enumerate(ways):
        if other != index:
            os.close(way.read_fd)
    os.close(ways[index].write_fd)
    observer = Observer() if job.detail else None
    decider = decider_of(job)
    control = RemoteController(
        decider, index, done_fd, ways, free=job.schedule.free, observer=observer, backend=world.backend
    )
    control.on_switch = teller(tell)
    if observer is not None:
        observer.controller = control
    me = control.threads[index]
    before = snapshot(world.table.save_restore)
    aftermath = None if world.scenario.compares is False else Aftermath(world.table, world.module)
    findings: list[Finding] = []
    mine: dict[str, Any] = {}

    def body() -> Any:
        result, broken = None, ""
        try:
            result = world.scenario.body(index)(shared)
        except Abandoned:
            raise
        except BaseException as error:
            findings.append(of_error(error, me.name, len(control.log)))
        findings.extend(leaks(before, snapshot(world.table.save_restore), len(control.log)))
        try:
            require_plain([result], index)
        except NotPlain as error:
            result, broken = None, str(error)
        after = aftermath.told(shared, [result], {}) if aftermath is not None else None
        mine.update(result=result, broken=broken, after=after, pid=os.getpid())
        return result

    def leave() -> None:
        if not mine:
            return
        unused = decider.unused() if isinstance(decider, Sparse) else []
        control.left[me.name] = {
            **mine,
            "findings": [finding.to_json() for finding in findings],
            "unused": [_plain(d) for d in unused if _of(d, me.name) and d.point != "end"],
            "accesses": observer.accesses if observer is not None else [],
            "collections": [asdict(made) for made in control.collections],
            "made": control.made.told(),
            "contended": sorted(control.contended()),
        }

    me.body, control.leave = body, leave
    active.controller = control
    with reported(control, findings):
        control.live(me)
        while me.gate is not ways[index]:  # the run ends this process
            raw.sleep(3600.0)


def _of(directive: Directive, body: str) -> bool:
    return directive.thread == body or directive.thread.startswith(body + ".")


def _plain(directive: Directive) -> list[Any]:
    return [directive.thread, directive.point, directive.n, directive.does]
