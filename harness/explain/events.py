"""From the point sequence of a run to the events of its lanes."""

from __future__ import annotations

from dataclasses import replace

from harness.run.outcome import Finding
from harness.run.report import Report
from harness.schedule import Directive, Schedule

from .cause import Access, Cause, guilty
from .event import Event

_UNFINISHED = ("deadlock", "hang", "crash")
_MOST = 56  # events drawn; of the rest those next to nothing else of interest are counted, not drawn


def events_of(schedule: Schedule, report: Report, cause: Cause | None) -> list[Event]:
    """All events, in order."""
    states = (*guilty(cause), *_second_looks(report, cause))
    accesses: dict[int, list[Access]] = {}
    for access in report.accesses:
        if access["state"] in states:
            accesses.setdefault(access["at"], []).append(access)
    wanted = {(d.thread, d.point, d.n) for d in schedule.directives}
    drawn = {f"{kind}:{state}" for state in states for kind in ("read", "write")}
    locks, own = report.outcome == "deadlock", cause is None and report.outcome != "deadlock"
    found: list[Event] = []
    before = ""
    met: set[str] = set()
    for at, (thread, point, n, _) in enumerate(report.passes()):
        found += _failures(report, at)
        found += _collections(report, at)
        if thread != before:
            if before:
                found.append(_hand_over(schedule, report, at, before, thread))
            if thread not in met:
                found.append(Event(at, thread, "start"))
                met.add(thread)
        before = thread
        for access in accesses.get(at, ()):
            found.append(_access(access, cause))
        kind, _, rest = point.partition(":")
        if point == "end":
            found.append(Event(at, thread, "end"))
        elif (thread, point, n) in wanted and point not in drawn:
            found.append(Event(at, thread, "point", _passed(point, n), asked=True))
        elif own and kind in ("call", "line", "marker", "lock", "unlock"):
            found.append(Event(at, thread, "point", _passed(point, n)))
        elif kind == "block":
            found.append(Event(at, thread, "wait", rest))
        elif locks and kind in ("lock", "unlock"):
            found.append(Event(at, thread, "lock", _passed(point, n)))
    end = len(report.log)
    late = _failures(report, end)
    found += [event for event in late if event.lane]
    lane = report.log[-1][0] if report.log else ""
    if lane and report.log[-1][1] != "end" and report.outcome not in _UNFINISHED:
        found.append(Event(end, lane, "end"))  # the last to end gives the baton to nobody, and the log is closed
    found += [event for event in late if not event.lane]
    return _collapsed(found)


_PASSED = {"lock": "takes a lock in ", "unlock": "gives back a lock in ", "call": "enters ", "line": "is in ", "marker": "is at "}


def _passed(point: str, n: int) -> str:
    kind, _, rest = point.partition(":")
    return f"{_PASSED.get(kind, f'passes {kind} ')}{rest}" + (f" (passing {n})" if n > 1 else "")


def _second_looks(report: Report, cause: Cause | None) -> list[str]:
    """States that the thread that failed read after the one that made the difference, and that another thread wrote.

    A guard may ask two flags one after the other: only both answers together explain what it did.
    """
    finding = next((f for f in report.findings if f.kind == report.outcome and f.thread), None)
    if cause is None or cause.read is None or finding is None:
        return []
    written = {a["state"] for a in report.accesses if a["kind"] == "write" and a["thread"] != finding.thread}
    written |= {cause.then["state"]} if cause.then is not None else set()  # by another thread, but not yet
    read = [
        a["state"] for a in report.accesses
        if a["kind"] == "read" and a["thread"] == finding.thread and cause.read["at"] < a["at"] <= finding.at
    ]  # fmt: skip
    return [state for state in dict.fromkeys(reversed(read)) if state in written and state not in guilty(cause)][:2]


def _access(access: Access, cause: Cause | None) -> Event:
    key = cause is not None and any(guilty is not None and _same(access, guilty) for guilty in (cause.write, cause.read, cause.then))
    return Event(
        access["at"], access["thread"], access["kind"], "", access["state"], access["value"], access["file"],
        access["line"], access["function"], key=key,
    )  # fmt: skip


def _same(access: Access, guilty: Access) -> bool:
    """In a cause, what a finalizer does is under a name of its own and counted for itself."""
    return all(access[key] == guilty[key] for key in ("at", "kind", "state", "value", "line"))


def _hand_over(schedule: Schedule, report: Report, at: int, giver: str, taker: str) -> Event:
    for directive, forced, position in report.switches:
        asked = not forced or directive in schedule.directives
        if position == at and asked and directive.thread == giver and directive.does == taker:
            return Event(at, giver, "hand over", "as the schedule asks", to=taker, asked=True)
    last = report.log[at - 1][1]
    why = f"{giver} has ended" if last == "end" else f"{giver} has to wait" if last.startswith("block:") else ""
    return Event(at, giver, "hand over", why, to=taker)


def _collections(report: Report, at: int) -> list[Event]:
    return [
        Event(at, directive.thread, "collect", _collected(report, directive), asked=True)
        for directive, _, position in report.switches
        if position == at and directive.does.startswith("gc")
    ]


def _collected(report: Report, directive: Directive) -> str:
    text = f"garbage collection of generation {directive.does[2:]}"
    for made in report.collections:
        if (made.thread, made.point, made.n) == (directive.thread, directive.point, directive.n) and made.ran:
            ran = made.ran[0]
            more = f" and {len(made.ran) - 1} more" if len(made.ran) > 1 else ""
            return f"{text}, which runs the {ran['kind']} {ran['function']}{more}"
    return text


def _failures(report: Report, at: int) -> list[Event]:
    outcome = next((f for f in report.findings if f.kind == report.outcome and f.message == report.message), None)
    return [_failure(finding, finding is outcome, report) for finding in report.findings if finding.at == at]


def _failure(finding: Finding, key: bool, report: Report) -> Event:
    lane = finding.thread if finding.thread in report.threads else ""
    return Event(finding.at, lane, "fail" if lane else "leak", f"{finding.kind}: {finding.message}", key=key)


def _collapsed(events: list[Event]) -> list[Event]:
    """Equal accesses in a row, as in a loop, become one."""
    found: list[Event] = []
    for event in events:
        last = found[-1] if found else None
        if last is not None and event.kind == "read" and replace(event, at=last.at, times=last.times) == last:
            found[-1] = replace(last, times=last.times + 1)
        else:
            found.append(event)
    return found


def shortened(events: list[Event], most: int = _MOST) -> list[Event]:
    """At most about ``most``; what is left out is counted in events of the kind ``more``."""
    if len(events) <= most:
        return events
    interesting = {
        i for i, e in enumerate(events) if e.key or e.asked or e.kind in ("start", "end", "fail", "leak", "hand over")
    }
    near = {j for i in interesting for j in (i - 1, i, i + 1) if 0 <= j < len(events)}
    keep = near if len(near) <= most else interesting
    found: list[Event] = []
    for index, event in enumerate(events):
        if index in keep:
            found.append(event)
        elif found and found[-1].kind == "more" and found[-1].lane == event.lane:
            found[-1] = replace(found[-1], times=found[-1].times + event.times)
        else:
            found.append(Event(event.at, event.lane, "more", times=event.times))
    return found
