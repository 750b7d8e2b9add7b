"""One sentence of why, made from the access log of one schedule with and without the fix."""

from __future__ import annotations

from dataclasses import replace

from harness.control.actions import HandOver
from harness.explain import Cause, candidates
from harness.explain.text import sentence
from harness.fixes import Fix, find_fix
from harness.run.job import Job
from harness.run.report import Report
from harness.schedule.schedule import Schedule
from harness.search import Runner

_TRIED = 24  # states, the likeliest first


def _record(runner: Runner, schedule: Schedule, fix: str) -> Report:
    return runner.wait(runner.start(Job(schedule, fix, detail=True)))


def cause_of(runner: Runner, schedule: Schedule, fix: str = "none") -> tuple[Report, Cause | None]:
    """The failing run recorded, and the state that made the difference to a run without a switch.

    The likeliest states are tried, one run each, as each thread's own: where the failure is gone, it went through that.
    """
    failing = _record(runner, schedule, fix)
    control = _record(runner, replace(schedule, directives=()), fix)
    if find_fix(fix).processes:
        return failing, None  # no state of one's memory is another's
    likely = candidates(failing, control)[:_TRIED]
    if not failing.failed or not likely:
        return failing, likely[0] if likely else None
    part: list[Cause] = []  # without which it fails in another way
    isolated = runner.map(Job(schedule, fix, isolate=(cause.state,)) for cause in likely)
    for cause, (_, report) in zip(likely, isolated, strict=False):
        if not report.failed:
            return failing, replace(cause, proved=True)
        if report.signature != failing.signature:
            part.append(cause)
    for group in (part, likely):
        states = tuple(cause.state for cause in group)
        if len(states) > 1 and not runner.wait(runner.start(Job(schedule, fix, isolate=states))).failed:
            return failing, replace(group[0], proved=True, with_it=states[1:])
    if not schedule.directives or failing.outcome == "deadlock":
        return failing, None  # there is nothing to compare with; it was locks
    by_collection = any(made.ran for made in failing.collections)
    if by_collection and not part and not any(isinstance(directive.action, HandOver) for directive in schedule.directives):
        # what the collection ran says more than a state without which it fails all the same; an object's can't be tried
        likely = [cause for cause in likely if ":" in cause.state]
    return failing, next(iter(part or likely), None)


def why_fails(runner: Runner, fix: Fix, schedule: Schedule) -> str:
    report, cause = cause_of(runner, schedule, fix.in_runs)
    if report.outcome == "deadlock":
        return report.message
    return f"{report.signature}: {sentence(cause, report)}"


def why_holds(cause: Cause | None, runner: Runner, fix: Fix, schedule: Schedule) -> str:
    """``cause``: of the failure without the fix; ``runner`` runs the schedule as it passes."""
    fixed = _record(runner, schedule, fix.in_runs)
    if fix.processes:
        return _processes_apart(fixed)
    if cause is None or cause.read is None or cause.write is None:
        return "the schedule that failed passes"
    state, reader, writer = cause.state, cause.read["thread"], cause.write["thread"]
    reads = [a for a in fixed.accesses if a["state"] == state and a["thread"] == reader and a["kind"] == "read"]
    if not reads:
        return f"{reader} no longer reads {state}, so that what {writer} wrote does not reach it"
    if fixed.void:
        return f"the hand-over that let {reader} read {state} in between is impossible now"
    if reads[0]["value"] == cause.read["value"]:
        return f"{reader} still reads {state} as {reads[0]['value']}, and goes on with that"
    return f"{reader} reads {state} as {reads[0]['value']}, not {cause.read['value']}"


def _processes_apart(report: Report) -> str:
    """Read off the log, not assumed: no (process, state) pair belongs to two bodies."""
    owners: dict[tuple[int, str], set[str]] = {}
    for access in report.accesses:
        owners.setdefault((access["pid"], access["state"]), set()).add(access["thread"])
    shared = sorted(state for (_, state), threads in owners.items() if len(threads) > 1)
    if shared or len(set(report.pids)) != len(report.pids):
        return f"NOT apart: {', '.join(shared) or 'two bodies share a process'}"
    states = len({state for _, state in owners})
    return (
        f"{len(report.pids)} processes touched {states} states in {len(report.accesses)} accesses; "
        "no state of one process was touched by two bodies"
    )
