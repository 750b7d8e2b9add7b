"""A failing run told as lanes: the one data model that every format draws.

Of the thousands of points of a run only those are kept that a reader needs: the accesses to the guilty states, where the
baton changed hands, what the schedule asked for, the failure, and the start and end of each thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.run.outcome import Finding
from harness.run.report import Report
from harness.schedule import Schedule

from .cause import Access, Cause, guilty
from .counterfactual import Counterfactual
from .event import Event
from .events import events_of, shortened


@dataclass(frozen=True)
class Story:
    """lanes          thread names, in order of birth
    roles          what each runs, where that is known: the function its stacks begin with
    environment    ``torch``, ``python``, ``platform``: as text, empty where there is none
    counterfactual the nearest schedule that passes (None where none was found among those tried)
    on_gc          whether it depends on garbage collection, in words; empty where that was not asked
    framed         the same run with Dynamo's frames recorded; None where they were not asked for
    """

    schedule: Schedule
    report: Report
    cause: Cause | None
    events: list[Event]
    lanes: list[str]
    roles: dict[str, str]
    fix: str = "none"
    environment: dict[str, str] = field(default_factory=dict)
    counterfactual: Counterfactual | None = None
    on_gc: str = ""
    framed: Report | None = None

    @property
    def failure(self) -> Finding | None:
        """The finding that named the run."""
        return next((f for f in self.report.findings if f.kind == self.report.outcome and f.message == self.report.message), None)

    @property
    def states(self) -> tuple[str, ...]:
        return guilty(self.cause)


def tell(
    schedule: Schedule,
    report: Report,
    cause: Cause | None,
    *,
    fix: str = "none",
    environment: dict[str, str] | None = None,
    counterfactual: Counterfactual | None = None,
    on_gc: str = "",
    framed: Report | None = None,
) -> Story:
    """``report`` is of a run made with ``detail``."""
    lanes = [name for name in report.threads if any(thread == name for thread, _, _ in report.log)]
    events = shortened(events_of(schedule, report, cause))
    return Story(schedule, report, cause, events, lanes, _roles(report), fix, environment or {}, counterfactual, on_gc, framed)


def _roles(report: Report) -> dict[str, str]:
    roles: dict[str, str] = {}
    for access in report.accesses:
        roles.setdefault(access["thread"], _outermost(access))
    for thread, point, _ in report.log:  # a body without an access: what it enters first
        kind, _, name = point.partition(":")
        if kind == "call":
            roles.setdefault(thread, name.rpartition(".")[2])
    return {name: role for name, role in roles.items() if role}


def _outermost(access: Access) -> str:
    """The function at the bottom of the stack; for a thread that a body started, what ``threading`` runs."""
    for line in access["stack"]:
        place, _, function = line.rpartition(" ")
        if "/threading.py:" not in place and not function.startswith("<"):
            return function
    return ""
