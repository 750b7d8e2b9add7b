"""Coverage of state pairs: seen when both accesses occur, met when one finds the other's thread half-way."""

from __future__ import annotations

from harness.campaign.pairs import Coverage, Pairs
from harness.run.report import Report

W, R = "write:m.s", "read:m.s"


def pairs(*runs: list[tuple[str, str]]) -> dict[str, list[str]]:
    found = Pairs()
    for run in runs:
        found.learn(Report(log=[(thread, point, place) for place, (thread, point) in enumerate(run)]))
    return found.to_json()


def test_one_thread_after_the_other_is_no_meeting() -> None:
    assert pairs([("T0", W), ("T0", "end"), ("T1", R), ("T1", "end")]) == {"m.s": ["0>1r"]}


def test_half_way() -> None:
    assert pairs([("T0", W), ("T1", R), ("T1", "end"), ("T0", "end")]) == {"m.s": ["0>1r+"]}


def test_two_writers() -> None:
    assert pairs([("T0", W), ("T1", W), ("T0", R)]) == {"m.s": ["0>1w+", "1>0r+", "1>0w"]}


def test_threads_born_inside_are_their_roots() -> None:
    assert pairs([("T0.1", W), ("T0.1", "end"), ("T1", R)]) == {"m.s": ["0>1r+"]}


def test_one_thread_alone_or_readers_only() -> None:
    assert pairs([("T0", W), ("T0", R), ("T0", "read:m.t"), ("T1", "read:m.t"), ("T1", "lock:m.l")]) == {}


def test_the_union_of_runs_and_units() -> None:
    early, late = [("T0", W), ("T0", "end"), ("T1", R)], [("T0", W), ("T1", R)]
    assert pairs(early, late) == pairs(late, early) == {"m.s": ["0>1r+"]}
    found = Coverage()
    for cell in (0, 0, 1):
        found.add(cell, pairs(early))
    found.add(1, pairs(late))
    assert (len(found.seen), len(found.met)) == (2, 1)
