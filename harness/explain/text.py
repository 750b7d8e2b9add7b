"""An explanation as plain text."""

from __future__ import annotations

from harness.run.report import Report
from harness.schedule import Schedule, to_token

from .cause import Access, Cause


def _place(access: Access) -> str:
    return f"{access['file']}:{access['line']} in {access['function']}"


def sentence(cause: Cause | None, report: Report) -> str:
    """The mechanism in one sentence."""
    if cause is None:
        return f"{report.outcome}: {report.message or 'no process-wide state seen'}"
    if cause.read is not None and cause.write is not None:
        normal = f" (undisturbed: {cause.normal})" if cause.normal else ""
        return (
            f"{cause.write['thread']} set {cause.state} to {cause.write['value']}; "
            f"{cause.read['thread']} read {cause.read['value']}{normal}"
        )
    assert cause.write is not None
    threads = list(dict.fromkeys(a["thread"] for a in cause.trail if a["kind"] == "write"))
    if len(threads) == 1:
        return f"{threads[0]} set {cause.state} to {cause.write['value']}, and other threads went on with that"
    return f"{', '.join(threads)} wrote {cause.state} in turn; it was left at {cause.trail[-1]['value']}"


def as_text(schedule: Schedule, report: Report, cause: Cause | None) -> str:
    mode = "free-threaded" if schedule.free else "realizable under the GIL"
    lines = [
        f"scenario  {schedule.scenario}, {schedule.threads} threads, T{schedule.first} starts ({mode})",
        f"outcome   {report.outcome}: {report.message}",
        "schedule",
    ]
    lines += [f"          {directive}" for directive in schedule.directives] or ["          no switch at all"]
    lines += ["cause     " + sentence(cause, report)]
    if cause is not None:
        lines.append(f"state     {cause.state}")
        if cause.proved:
            others = f" and {', '.join(cause.with_it)}" if cause.with_it else ""
            lines.append(f"proof     with this state{others} each thread's own, the same schedule passes")
        for name, access in (("write", cause.write), ("read", cause.read)):
            if access is not None:
                lines.append(f"{name:9} {access['thread']}: {access['value']}, {_place(access)}")
        lines.append("trail")
        for access in cause.trail[:40]:
            lines.append(
                f"          {access['thread']} {access['kind']:5} {access['value']:24} "
                f"{access['function']}:{access['line']}"
            )
        if len(cause.trail) > 40:
            lines.append(f"          … {len(cause.trail) - 40} more")
        for name, access in (("writer", cause.write), ("reader", cause.read)):
            if access is not None:
                lines.append(f"stack of the {name} ({access['thread']})")
                lines += [f"          {line}" for line in access["stack"]]
    finding = next((f for f in report.findings if f.kind == report.outcome), None)
    if finding is not None and finding.stack and cause is None:
        lines.append("stack")
        lines += [f"          {line}" for line in finding.stack]
    lines.append(f"replay    harness replay {to_token(schedule)}")
    return "\n".join(lines)
