"""One thing that happened in a run, as a reader is told of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """One thing in one lane.

    at      index into the run's point sequence
    lane    thread name; empty for what is seen when all threads have ended
    kind    start, read, write, point, lock, wait, collect, hand over (spans two lanes), fail, end, leak (belongs to none), more
    text    what happened, for people: a message, a point, a reason
    to      the other lane of a hand-over
    asked   the schedule asks for it; what does not come from the default rule
    key     the write or the read that made the difference, or the failure
    times   how many equal events in a row it stands for
    """

    at: int
    lane: str
    kind: str
    text: str = ""
    state: str = ""
    value: str = ""
    file: str = ""
    line: int = 0
    function: str = ""
    to: str = ""
    asked: bool = False
    key: bool = False
    times: int = 1
