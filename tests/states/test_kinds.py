"""Each kind of point has a race that is found with it and missed without."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.run.launch import Launcher
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.search import Exploration, explore
from harness.states.kinds import ALL

ROOT = Path(__file__).resolve().parents[2]
BUDGET = 150

EXAMPLE = {
    "containers": "registry_filled_twice",
    "objects": "attribute_of_shared_object",
    "operators": "operator_of_a_library",
    "releases": "search_in_a_file",
    "pairs": "working_directory",
    "entries": "dispatch_cache",
    "reach": "copy_of_shared_dict",
}
#: What another kind finds too: operators are the fallback for these.
FALLBACK = {"containers", "objects"}


def search(kind: str, *points: str) -> Exploration:
    reference = str(ROOT / "examples" / "fail" / f"{EXAMPLE[kind]}.py")
    with Launcher(reference, points=points) as launcher:
        return explore(launcher, Schedule(reference, launcher.about["threads"][0]), budget=BUDGET)


def test_every_kind_has_an_example() -> None:
    assert sorted(EXAMPLE) == sorted(set(ALL) - {"names"})


@pytest.mark.parametrize("kind", sorted(EXAMPLE))
def test_found_with_it(kind: str) -> None:
    needed = ("names", "objects", kind) if kind == "releases" else ("names", kind)
    assert search(kind, *needed).failures


@pytest.mark.parametrize("kind", sorted(EXAMPLE))
def test_missed_without_it(kind: str) -> None:
    others = [name for name in ALL if name != kind and not (kind in FALLBACK and name == "operators")]
    found = search(kind, *others)
    assert not found.failures
    assert found.schedules > len(found.controls)


def test_a_kind_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind 'nmaes'"):
        Scenario(bodies=[print], points=["nmaes"])
