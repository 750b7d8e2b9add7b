"""The small classic races: every one is found, reduced and replayed, and every repaired twin survives."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule, from_token, to_token
from harness.search import Exploration, explore
from harness.search.certify import negative
from harness.search.reduce import reduce

ROOT = Path(__file__).resolve().parents[2]
FAIL = sorted((ROOT / "examples" / "fail").glob("*.py"))
SUCCESS = sorted((ROOT / "examples" / "success").glob("*.py"))
UNREALIZABLE = "unrealizable_update"
BOUND = 150  #: schedules a repaired twin survives here; the slow test searches to the end
DEEP = 20_000
#: Twins whose search has no end within that: they survive so many schedules, and nothing is certified.
TOO_LARGE = {"executor_starvation": 4_000}


def stem(path: Path) -> str:
    return path.stem


def base(path: Path, launcher: Launcher, free: bool = False) -> Schedule:
    return Schedule(str(path), launcher.about["threads"][0], free=free)


def found_and_replayed(path: Path, free: bool) -> None:
    with Launcher(str(path), free=free) as launcher:
        found = explore(launcher, base(path, launcher, free), budget=400)
        assert found.failures, negative(found).says
        schedule, report, _ = reduce(launcher, *found.failures[0])
        assert len(schedule.directives) <= 3
        schedule = from_token(to_token(schedule))
        digests = {again.digest for _, again in launcher.map(Job(schedule) for _ in range(5))}
        assert digests == {report.digest}
        for index in range(len(schedule.directives)):
            left = schedule.directives[:index] + schedule.directives[index + 1 :]
            without = launcher.run(Job(schedule.with_directives(left)))
            assert (without.outcome, without.signature) != (report.outcome, report.signature), (
                "reduced no further"
            )


def test_there_are_as_many_twins_as_races() -> None:
    assert [path.name for path in FAIL] == [path.name for path in SUCCESS]
    assert len(FAIL) >= 15


RACES = [
    path
    for path in FAIL
    if path.stem != UNREALIZABLE
]


@pytest.mark.parametrize("path", RACES, ids=stem)
def test_a_race_is_found_and_replayed(path: Path) -> None:
    found_and_replayed(path, free=False)


def survive(path: Path, budget: int, free: bool = False) -> Exploration:
    with Launcher(str(path), free=free) as launcher:
        found = explore(launcher, base(path, launcher, free), budget=budget)
    assert not found.failures, (to_token(found.failures[0][0]), found.failures[0][1].message)
    return found


@pytest.mark.parametrize("path", SUCCESS, ids=stem)
def test_a_repaired_twin_survives(path: Path) -> None:
    found = survive(path, BOUND)
    assert found.schedules > len(found.controls)


@pytest.mark.slow
@pytest.mark.parametrize("path", SUCCESS, ids=stem)
def test_a_repaired_twin_survives_to_the_end(path: Path) -> None:
    limit = TOO_LARGE.get(path.stem)
    found = survive(path, limit or DEEP)
    assert (found.limit == "") == (limit is None)
    assert negative(found).certain == (limit is None), negative(found).says


def path_of(name: str, folder: str = "fail") -> Path:
    return ROOT / "examples" / folder / f"{name}.py"


def test_what_the_gil_forbids_is_not_reported() -> None:
    found = survive(path_of(UNREALIZABLE), DEEP)
    assert found.limit == ""


def test_and_is_found_in_free_mode() -> None:
    found_and_replayed(path_of(UNREALIZABLE), free=True)


def test_its_repaired_twin_survives_in_free_mode_too() -> None:
    survive(path_of(UNREALIZABLE, "success"), BOUND, free=True)
