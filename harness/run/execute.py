"""One run, in this process: fix, set-up, threads under control, oracles, report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from types import ModuleType
from typing import Any

from harness.control import collector, raw
from harness.control.actions import Decider
from harness.control.backends import Backend
from harness.control.controller import Controller, Switch
from harness.control.frames import Frames
from harness.control.isolate import Isolation
from harness.control.managed import Managed
from harness.control.shield import shield
from harness.control.sparse import Sparse
from harness.fixes import Fix
from harness.oracles.aftermath import Aftermath
from harness.oracles.checked import checked
from harness.oracles.leaked import leaks
from harness.oracles.probed import probed
from harness.oracles.unraisable import reported
from harness.scenario import Scenario
from harness.schedule.schedule import Directive
from harness.states import Table
from harness.states.values import snapshot

from .job import Job
from .observe import Observer
from .outcome import Finding, of_error


class NotPlain(TypeError):
    """A body returned what cannot travel as JSON."""


def require_plain(results: list[Any], first: int = 0) -> None:
    """Raises NotPlain. ``first``: which thread's is the first of them."""
    for index, result in enumerate(results, first):
        try:
            json.dumps(result)
        except (TypeError, ValueError, RecursionError) as error:
            kind = type(result).__name__
            raise NotPlain(
                f"T{index} returned a {kind}, not plain data (numbers, strings, lists, dicts): {error}"
            ) from None


def axes_of(scenario: Scenario, job: Job) -> dict[str, Any]:
    chosen = {name: values[0] for name, values in scenario.axes.items()}
    chosen.update(job.schedule.axes)
    chosen["threads"] = job.schedule.threads
    return chosen


@contextmanager
def set_up(scenario: Scenario, job: Job, fix: Fix | None) -> Iterator[Any]:
    """The fix in force, and what set-up returned."""
    apply = fix.manager() if fix is not None else nullcontext()
    late = fix is not None and fix.late

    def made() -> Any:
        return scenario.setup(axes_of(scenario, job)) if scenario.setup is not None else None

    shared = made() if late else None
    with apply:
        yield shared if late else made()


@dataclass(frozen=True)
class Ready:
    """What set-up returned, in a process that the runs are forked from."""

    shared: Any


def decider_of(job: Job) -> Decider:
    if job.strategy is None:
        return Sparse(job.schedule.directives)
    from harness.search.online import make

    return make(job.strategy)


def execute(
    job: Job,
    scenario: Scenario,
    table: Table,
    backend: Backend | None,
    fix: Fix | None,
    start: Callable[[Managed], None],
    *,
    tell: Callable[[dict[str, Any]], None] | None = None,
    wait: bool = False,
    ready: Ready | None = None,
    home: ModuleType | None = None,
) -> dict[str, Any]:
    """Make the run and return its report as plain data.

    ``wait``: unwind threads that are left (one process only). ``ready``: fix and set-up have been seen to already.
    ``home``: the scenario's own module, whose states are compared with those of sequential orders.
    """
    began = raw.monotonic()
    findings: list[Finding] = []
    decider = decider_of(job)
    observer = Observer() if job.detail else None
    control = Controller(decider, free=job.schedule.free, observer=observer, backend=backend)
    control.on_switch = teller(tell)
    if observer is not None:
        observer.controller = control
    if job.frames:
        control.frames = Frames(control)
    unraisable: list[Finding] = []
    results: list[Any] = []
    with ExitStack() as stack:
        stack.enter_context(collector.on_demand_only())
        stack.enter_context(reported(control, unraisable))
        shared = ready.shared if ready is not None else stack.enter_context(set_up(scenario, job, fix))
        if backend is not None:
            backend.activate(shared)
        before = snapshot(table.save_restore)
        aftermath = None if scenario.compares is False else Aftermath(table, home)
        if job.isolate:
            control.isolation = Isolation(job.isolate)
        bodies = [_bound(scenario.body(i), shared) for i in range(job.schedule.threads)]
        with control.frames.recorded(backend) if control.frames is not None else nullcontext():
            control.run(bodies, job.schedule.first, start)
        after = snapshot(table.save_restore)
        findings += _of_threads(control)
        results = [me.result for me in control.threads if not me.adopted]
        left: dict[str, str] | None = None
        if not control.deadlock:
            at = len(control.log)
            findings += checked(scenario, shared, results, at)
            findings += leaks(before, after, at)
            failures, told = probed(scenario, shared, at)
            findings += failures
            left = aftermath.told(shared, results, told) if aftermath is not None else None
        if wait:
            control.abandon()
    findings += unraisable
    unused = decider.unused() if isinstance(decider, Sparse) else []
    if unused and not findings:
        text = f"never passed: {unused[0]}"
        findings.append(Finding("not aligned", text, text))
    accesses = observer.accesses if observer is not None else []
    report = report_of(control, findings, results, unused, accesses, raw.monotonic() - began)
    return report if left is None else {**report, "after": left}


def teller(tell: Callable[[dict[str, Any]], None] | None) -> Callable[[str, Switch], None] | None:
    """Sends switches as they happen, as plain data."""
    if tell is None:
        return None

    def on_switch(thread: str, switch: Switch) -> None:
        with shield():
            directive = Directive(thread, switch.key, switch.n, switch.action)
            tell({"switch": {**_as_json(directive), "forced": switch.forced, "at": switch.position}})

    return on_switch


def _bound(body: Callable[[Any], Any], shared: Any) -> Callable[[], Any]:
    return lambda: body(shared)


def _of_threads(control: Controller) -> list[Finding]:
    findings = []
    for me in control.threads:
        if me.error is not None and not me.adopted:
            findings.append(of_error(me.error, me.name, me.error_at))
    if control.deadlock:
        findings.append(deadlock_finding(control))
    return findings + of_children(control)


def of_children(control: Controller) -> list[Finding]:
    """What processes that the program forked raised, or were killed by."""
    return [replace(Finding(**item), at=len(control.log)) for item in control.account.found()]


def deadlock_finding(control: Controller) -> Finding:
    waits = [
        f"{w.thread} waits for {w.waits_for} at {w.site}"
        + (f", held by {w.held_by}" if w.held_by else "")
        + (f" ({w.remark})" if w.remark else "")
        for w in control.deadlock
    ]
    stack = [f"{w.thread}: {line}" for w in control.deadlock for line in w.stack]
    names = sorted({w.name for w in control.deadlock})
    return Finding("deadlock", "deadlock: " + " / ".join(names), "; ".join(waits), stack=stack, at=len(control.log))


def _as_json(directive: Directive) -> dict[str, Any]:
    return {"thread": directive.thread, "point": directive.point, "n": directive.n, "action": directive.does}


def report_of(
    control: Controller,
    findings: list[Finding],
    results: list[Any],
    unused: list[Directive],
    accesses: list[dict[str, Any]],
    seconds: float,
) -> dict[str, Any]:
    names = [me.name for me in control.threads]
    keys: dict[str, int] = {}
    flat: list[int] = []
    digest = hashlib.sha256()
    for thread, key, place in control.log:
        flat += (thread, keys.setdefault(key, len(keys)), place)
        digest.update(f"{thread} {key}\n".encode())
    switches = []
    for switch in control.switches:
        directive = Directive(names[switch.thread], switch.key, switch.n, switch.action)
        digest.update(f"{directive}\n".encode())
        switches.append({**_as_json(directive), "forced": switch.forced, "at": switch.position})
    for finding in findings:
        digest.update(f"{finding.kind} {finding.signature}\n".encode())
    return {
        "findings": [finding.to_json() for finding in findings],
        "results": results,
        "threads": names,
        "keys": list(keys),
        "log": flat,
        "switches": switches,
        "choices": [(at, names[chosen], [names[other] for other in others]) for at, chosen, others in control.choices],
        "instead": {me.name: names[me.acts_for] for me in control.threads if me.acts_for != me.index},
        "void": len(control.void),
        "timed": control.timed,
        "unused": [_as_json(directive) for directive in unused],
        "uncontrolled": control.uncontrolled,
        "contended": sorted(control.contended()),
        "accesses": accesses,
        "collections": [asdict(made) for made in control.collections],
        "collected_itself": control.collected_itself,
        "frames": control.frames.seen if control.frames is not None else [],
        "made": control.made.told(),
        "digest": digest.hexdigest()[:16],
        "seconds": seconds,
        "rss_mb": 0.0,
    }
