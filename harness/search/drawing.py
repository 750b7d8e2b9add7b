"""Directives as Hypothesis draws them: at points that runs without a directive passed.

Simpler is fewer threads, the first thread, fewer directives, earlier points, hand-overs: that is what its shrinker moves
towards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from harness.control.actions import Action, Collect, HandOver
from harness.run.report import Report
from harness.schedule.schedule import Directive, Schedule

from .knowledge import Candidate, Knowledge

MOST = 3  #: directives at most


@dataclass(frozen=True)
class Start:
    """A schedule without directives, and where its run may be disturbed.

    hot      points that two threads care about; everything has these and the places of the scenario's own code
    threads  names of those there were
    """

    schedule: Schedule
    hot: tuple[Candidate, ...]
    everything: tuple[Candidate, ...]
    threads: tuple[str, ...]


def start_of(schedule: Schedule, report: Report, others: Iterable[Report] = ()) -> Start:
    """``report`` is of ``schedule``; ``others`` tell too which states two threads touch."""
    knowledge = Knowledge()
    for run in (report, *others):
        knowledge.learn(run)
    hot = tuple(knowledge.candidates(report, least=2))
    return Start(schedule, hot, tuple(knowledge.candidates(report)), tuple(report.threads))


@st.composite
def disturbed(draw: st.DrawFn, start: Start) -> Schedule:
    """``start`` with up to three directives, in the order in which its run passed their points."""
    pools = [st.sampled_from(points) for points in (start.hot, start.everything) if points]
    if not pools:
        return start.schedule
    chosen = draw(st.lists(st.one_of(pools), max_size=MOST, unique_by=lambda candidate: candidate.position))
    directives = []
    for point in sorted(chosen, key=lambda candidate: candidate.position):
        others = [name for name in start.threads if name != point.thread]
        actions: list[st.SearchStrategy[Action]] = [st.sampled_from((2, 1, 0)).map(Collect)]
        if others:
            actions.insert(0, st.sampled_from(others).map(HandOver))
        directives.append(Directive(point.thread, point.point, point.n, draw(st.one_of(actions))))
    return replace(start.schedule, directives=tuple(directives))
