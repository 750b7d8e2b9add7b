"""What is odd about a scenario and makes a negative worth less than it sounds: a line each."""

from __future__ import annotations

from collections.abc import Sequence

from harness.run.report import Report

from .explore import Exploration


def remarks(found: Exploration, beside: Sequence[str] = ()) -> list[str]:
    """``beside``: modules of the scenario's folder that nothing was looked for in."""
    lines = []
    if beside:
        lines.append(f"{', '.join(beside)}: beside the scenario, and not looked into; what is shared there has no points unless it is in its modules")
    controls = found.controls
    if controls and all(_never_switches(found, report) for report in controls):
        lines.append("no thread passes a point after its first: it ends, or waits, before it could be interleaved with another")
    left = sorted({name for report in controls for name in _left(report)})
    if left:
        lines.append(f"{', '.join(left)} still ran when the bodies had ended: what is done after that is not seen; join it in a body")
    return lines


def _never_switches(found: Exploration, report: Report) -> bool:
    begun: set[str] = set()
    for thread, point, _ in report.log:
        if found.knowledge.worth(point) and thread in begun:
            return False
        begun.add(thread)
    return True


def _left(report: Report) -> list[str]:
    """Threads born in the run that had not ended with its bodies."""
    if report.failed:
        return []
    ended = {thread for thread, point, _ in report.log if point == "end"}
    return [name for name in report.threads if "." in name and name not in ended]
