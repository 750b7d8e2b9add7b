"""Collections are drawn, not placed: what depends on one is found, and its report names what it ran."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.inline import at
from support.programs import write

from harness.control.actions import Collect
from harness.control.collect import Collection
from harness.explain import as_text
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule
from harness.search import explore
from harness.search.collections import Collections, spots
from harness.search.knowledge import Knowledge
from harness.search.reduce import reduce
from harness.search.strategy import Ground, Proposal
from harness.verdict.on_gc import on_gc
from harness.verdict.why import cause_of

FAIL = Path(__file__).resolve().parents[2] / "examples" / "fail"
#: example -> what its collection runs, of what
NAMED = {
    "finalizer_against_main": ("finalizer finalizer_against_main.Lease.__del__", "of a finalizer_against_main.Lease"),
    "weakref_cache": ("weakref callback weakref.WeakValueDictionary.__init__.<locals>.remove", "of a weakref_cache.Image"),
    "generator_closed_by_gc": ("closed generator generator_closed_by_gc.draft", ""),
}  # fmt: skip


@pytest.mark.parametrize("strategy", ["portfolio", "gc"])
@pytest.mark.parametrize("example", NAMED)
def test_found_with_a_drawn_collection_and_named(example: str, strategy: str) -> None:
    path = str(FAIL / f"{example}.py")
    with Launcher(path) as launcher:
        found = explore(launcher, Schedule(path, 2), budget=300, strategy=strategy)
        assert found.failures
        schedule, report, _ = reduce(launcher, *found.failures[0])
        gc = on_gc(launcher, schedule, report)
        recorded, cause = cause_of(launcher, schedule)
        text = as_text(schedule, recorded, cause, gc.says)
    assert [type(d.action) for d in schedule.directives] == [Collect]
    assert gc.depends
    name, of = NAMED[example]
    if "co_qualname" not in dir(as_text.__code__):
        name, of = name.rpartition(".")[2], of  # Python 3.10 knows no qualified names of code
    assert name in text
    assert of in text
    assert f"{schedule.directives[0].thread} after {schedule.directives[0].point}" in text
    assert "depends on it: yes" in text


def ground(seed: int = 0, restored: frozenset[str] = frozenset()) -> Ground:
    return Ground(Schedule("x", 1), Knowledge(), Random(seed), restored=restored)


def report_of(*points: str, collection: Collection | None = None) -> Report:
    """A run of T0 through these points, with a place after each, and at most one collection."""
    log = [("T0", point, place) for place, point in enumerate(points)]
    return Report(log=log, collections=[collection] if collection else [], digest=repr(points))


def proposals(strategy: Collections, **seen: Any) -> list[Proposal]:
    """All it has to propose when each of its runs shows ``seen``."""
    made = []
    while (proposal := strategy.next()) is not None:
        made.append(proposal)
        (directive,) = proposal.schedule.directives
        strategy.told(proposal, report_of("call:f", collection=Collection("T0", directive.point, 1, 2, 0, **seen)))
    return made


POINTS = [f"call:f{i}" for i in range(60)]
RAN = [{"kind": "finalizer"}]


@pytest.mark.parametrize(
    ("seen", "most"),
    [
        ({"found": 0, "until": 0}, 1),  # nothing is garbage at the end
        ({"found": 9, "until": 0}, 13),  # garbage, but no code of the program
        ({"found": 9, "until": 0, "ran": RAN}, 60),  # every place
        ({"found": 9, "until": 1, "ran": RAN}, 60),
    ],
)
def test_how_many_are_worth_a_run(seen: dict[str, Any], most: int) -> None:
    strategy = Collections(ground())
    strategy.told(Proposal(Schedule("x", 1), "control"), report_of(*POINTS))
    made = proposals(strategy, **seen)
    assert len({p.schedule.directives[0].point for p in made}) == most
    assert made[0].schedule.directives == (at("T0", POINTS[-1], 2),), "the last place first"


def test_in_a_program_that_collects_itself_every_place_is_worth_one() -> None:
    strategy = Collections(ground())
    strategy.told(Proposal(Schedule("x", 1), "control"), report_of(*POINTS))
    points = set()
    while (proposal := strategy.next()) is not None:
        (directive,) = proposal.schedule.directives
        points.add(directive.point)
        report = report_of("call:f", collection=Collection("T0", directive.point, 1, 2, 0, found=0, until=0))
        report.collected_itself = True
        strategy.told(proposal, report)
    assert points == set(POINTS)


def test_behind_a_write_of_what_finalizers_touch_first() -> None:
    strategy = Collections(ground(restored=frozenset({"m.flag"})))
    points = ["call:a", "write:m.other", "call:b", "write:m.flag", "call:c", "write:m.flag", "call:d"]
    strategy.told(Proposal(Schedule("x", 1), "control"), report_of(*points))
    probe = strategy.next()
    assert probe is not None
    seen = report_of("read:m.flag", "read:m.other", collection=Collection("T0", "call:d", 1, 2, 0, 2, 3, RAN))
    strategy.told(probe, seen)
    first, second, third = (strategy.next() for _ in range(3))
    assert first is not None
    assert second is not None
    assert third is not None
    order = [(d.point, d.n) for p in (first, second, third) for d in p.schedule.directives]
    assert order == [("write:m.flag", 1), ("write:m.flag", 2), ("write:m.other", 1)]


def test_all_generations_are_drawn_and_a_young_one_that_finds_nothing_is_made_full() -> None:
    strategy = Collections(ground())
    strategy.told(Proposal(Schedule("x", 1), "control"), report_of(*POINTS))
    probe = strategy.next()
    assert probe is not None
    strategy.told(probe, report_of("call:f", collection=Collection("T0", "call:f", 1, 2, 0, 1, 3, RAN)))
    made = []
    while (proposal := strategy.next()) is not None:
        made.append(proposal)
        strategy.told(proposal, report_of("call:g", collection=Collection("T0", "call:f", 1, 0, 0, 0, 0)))
    generations = {p.schedule.directives[0].does for p in made}
    assert generations == {"gc0", "gc1", "gc2"}
    full = [p.schedule.directives[0].point for p in made if p.schedule.directives[0].does == "gc2"]
    assert sorted(full) == sorted(POINTS[:-1])


def test_combined_with_a_hand_over() -> None:
    strategy = Collections(ground())
    strategy.told(Proposal(Schedule("x", 2), "control"), report_of(*POINTS[:3]))
    probe = strategy.next()
    assert probe is not None
    strategy.told(probe, report_of("call:f", collection=Collection("T0", "call:f", 1, 2, 0, 1, 3, RAN)))
    switched = report_of(*POINTS[:5])
    switched.switches = [(at("T0", "call:f1", "T1"), False, 2)]
    strategy.told(Proposal(Schedule("x", 2), "random"), switched)
    made = []
    while (proposal := strategy.next()) is not None:
        made.append(proposal)
        seen = report_of(str(proposal.key), collection=Collection("T0", "call:f", 1, 2, 0, 1, 3, RAN))
        strategy.told(proposal, seen)
    both = [p for p in made if len(p.schedule.directives) == 2]
    assert both
    assert all(p.schedule.directives[0] == at("T0", "call:f1", "T1") for p in both)
    assert len({p.schedule.directives[1].point for p in both}) == 5


def test_points_without_a_place_between_are_one_spot() -> None:
    log = [("T0", "read:m.a", 1), ("T0", "write:m.a", 1), ("T1", "call:g", 1), ("T0", "end", 2)]
    first, second = spots(Report(log=log))
    assert (first.point, first.writes, second.point) == ("write:m.a", {"m.a"}, "call:g")


BESIDES = """
from harness.garbage import plant
COUNTED = 0
class Box:
    def __init__(self, axes):
        self.inside = [{"open": False, "heard": 0}]
        plant("finalizer", self.hear)
    def hear(self):
        global COUNTED
        COUNTED += 1
        self.inside[0]["heard"] += self.inside[0]["open"]
def body(box):
    global COUNTED
    within = box.inside[0]
    within["open"] = True
    marker("open")
    within["open"] = False
    COUNTED += 1
    assert not within["heard"]
scenario = Scenario([body], setup=Box, points=["names"])
"""


def test_what_a_finalizer_counts_besides_is_not_named(tmp_path: Path) -> None:
    """It fails without that count too: what the collection ran is what there is to say."""
    reference = write(tmp_path, BESIDES)
    schedule = Schedule(reference, 1, directives=(at("T0", "marker:open", 2),))
    with Launcher(reference) as launcher:
        recorded, cause = cause_of(launcher, schedule)
        text = as_text(schedule, recorded, cause, "")
    assert recorded.failed
    assert cause is None
    assert "COUNTED" not in text
    assert "finalizer harness.garbage.finalizer.Finalized.__del__" in text
