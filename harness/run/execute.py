"""One run, in this process: fix, set-up, threads under control, oracles, report."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from harness.control import collect, raw
from harness.control.actions import Decider
from harness.control.backends import Backend
from harness.control.controller import Abandoned, Controller, Switch
from harness.control.isolate import Isolation
from harness.control.managed import Managed, Status
from harness.control.shield import shield
from harness.control.sparse import Sparse
from harness.fixes import Fix
from harness.scenario import Scenario
from harness.schedule.schedule import Directive
from harness.states import Table
from harness.states.values import snapshot

from .job import Job
from .observe import Observer
from .outcome import Finding, of_error


class NotPlain(TypeError):
    """A body returned what cannot travel as JSON."""


def require_plain(results: list[Any]) -> None:
    for index, result in enumerate(results):
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
    apply = fix.apply() if fix is not None and fix.apply is not None else nullcontext()
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
) -> dict[str, Any]:
    """Make the run and return its report as plain data.

    ``wait``: unwind threads that are left (one process only). ``ready``: fix and set-up have been seen to already.
    """
    began = raw.monotonic()
    findings: list[Finding] = []
    decider = decider_of(job)
    observer = Observer() if job.detail else None
    control = Controller(decider, free=job.schedule.free, observer=observer, backend=backend)
    control.on_switch = teller(tell)
    if observer is not None:
        observer.controller = control
    unraisable: list[Finding] = []
    results: list[Any] = []
    with ExitStack() as stack:
        stack.enter_context(collect.on_demand_only())
        stack.enter_context(_reported(control, unraisable))
        shared = ready.shared if ready is not None else stack.enter_context(set_up(scenario, job, fix))
        before = snapshot(table.save_restore)
        if job.isolate:
            control.isolation = Isolation(job.isolate)
        bodies = [_bound(scenario.body(i), shared) for i in range(job.schedule.threads)]
        control.run(bodies, job.schedule.first, start)
        after = snapshot(table.save_restore)
        findings += _of_threads(control)
        results = [me.result for me in control.threads if not me.adopted]
        if not control.deadlock and scenario.check is not None:
            try:
                scenario.check(shared, results)
            except Exception as error:
                findings.append(of_error(error, "check", len(control.log)))
        if not control.deadlock:
            findings += leaks(before, after, len(control.log))
        if wait:
            control.abandon()
    findings += unraisable
    unused = decider.unused() if isinstance(decider, Sparse) else []
    if unused and not findings:
        text = f"never passed: {unused[0]}"
        findings.append(Finding("not aligned", text, text))
    accesses = observer.accesses if observer is not None else []
    return report_of(control, findings, results, unused, accesses, raw.monotonic() - began)


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


class _reported:
    """Exceptions that Python only prints are findings too."""

    def __init__(self, control: Controller, found: list[Finding]) -> None:
        self.control, self.found = control, found

    def __enter__(self) -> None:
        self.hooks = sys.unraisablehook, threading.excepthook
        sys.unraisablehook = self._unraisable
        threading.excepthook = self._thread

    def __exit__(self, *_: object) -> None:
        sys.unraisablehook, threading.excepthook = self.hooks

    def _name(self) -> str:
        me = self.control.current
        return me.name if me is not None else "main"

    def _unraisable(self, args: Any) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, Abandoned):  # of an earlier run
            self.found.append(of_error(args.exc_value, self._name(), len(self.control.log)))

    def _thread(self, args: Any) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, Abandoned):  # of an earlier run
            self.found.append(of_error(args.exc_value, self._name(), len(self.control.log)))


def _of_threads(control: Controller) -> list[Finding]:
    findings = []
    for me in control.threads:
        if me.error is not None and not me.adopted:
            findings.append(of_error(me.error, me.name, me.error_at))
    if control.deadlock:
        findings.append(deadlock_finding(control))
    return findings


def deadlock_finding(control: Controller) -> Finding:
    waits = [
        f"{w.thread} waits for {w.waits_for} at {w.site}" + (f", held by {w.held_by}" if w.held_by else "")
        for w in control.deadlock
    ]
    stack = [f"{w.thread}: {line}" for w in control.deadlock for line in w.stack]
    names = sorted({me.blocked_name for me in control.threads if me.status is not Status.ENDED})
    return Finding("deadlock", "deadlock: " + " / ".join(names), "; ".join(waits), stack=stack, at=len(control.log))


def leaks(before: dict[str, str], after: dict[str, str], at: int) -> list[Finding]:
    changed = [name for name in before if before[name] != after[name]]
    if not changed:
        return []
    return [
        Finding(
            "state leaked",
            "state leaked: " + ", ".join(changed),
            "; ".join(f"{name} was {before[name]}, is {after[name]}" for name in changed),
            at=at,
        )
    ]


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
        "void": len(control.void),
        "unused": [_as_json(directive) for directive in unused],
        "uncontrolled": control.uncontrolled,
        "contended": sorted(control.contended()),
        "accesses": accesses,
        "digest": digest.hexdigest()[:16],
        "seconds": seconds,
        "rss_mb": 0.0,
    }
