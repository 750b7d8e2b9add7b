"""Thread counts, axes and who starts are drawn; what was drawn stands in the token; the order depends on the seed alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.programs import write

from harness.cli.main import main
from harness.run.inline import InlineRunner
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule, from_token, to_token
from harness.search import Space, explore
from harness.search.again import Again
from harness.search.certify import negative
from harness.search.everywhere import ELSEWHERE, HEAD
from harness.search.space import shape_key, shape_text

ROOT = Path(__file__).resolve().parents[2]
THREE = """
def body(log):
    log.append(thread_index())
    marker("between")
    log.append(thread_index())
def check(log, results):
    assert len(log) < 6 or log[0] == log[1], f"mixed: {log}"
scenario = Scenario([body, body], setup=lambda axes: [], check=check)
"""
AXIS = """
def body(log):
    log.append(0)
    marker("between")
    log.append(1)
def check(log, results):
    assert log[0] == "locked" or log[1:3] == [0, 1], f"mixed: {log}"
scenario = Scenario([body, body], setup=lambda axes: [axes["kind"]], check=check, threads=(2, 2),
                    axes={"kind": ["locked", "open"], "size": [1, 2]})
"""
SAFE = "scenario = Scenario([lambda shared: marker('a'), lambda shared: marker('b')], threads=(2, 4))\n"


def space(about: dict[str, Any], reference: str) -> Space:
    low, high = about["threads"]
    return Space(Schedule(reference, low), range(low, high + 1), about["axes"])


class Recording(Launcher):
    def start(self, job: Job) -> int:
        self.made.append((to_token(job.schedule), json.dumps(job.strategy, sort_keys=True)))
        return super().start(job)

    made: list[tuple[str, str]]


def made(reference: str, jobs: int, budget: int, seed: int) -> list[tuple[str, str]]:
    with Recording(reference, jobs=jobs) as launcher:
        launcher.made = []
        drawn = space(launcher.about, reference)
        explore(launcher, drawn.home, space=drawn, budget=budget, seed=seed, stop=lambda *_: False)
        return launcher.made


def test_the_order_is_the_same_for_every_number_of_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Again, "never", lambda *_: None)  # replays of what failed are made between, and are no proposals
    reference = write(tmp_path, THREE)
    one = made(reference, 1, 150, 5)
    assert len(one) == 150
    assert made(reference, 2, 150, 5) == one
    assert made(reference, 5, 150, 5) == one
    assert made(reference, 2, 150, 6) != one


@contextmanager
def searched(reference: str) -> Iterator[tuple[InlineRunner, Space]]:
    with InlineRunner(reference) as runner:
        yield runner, space(runner.about, reference)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_a_failure_of_three_threads_is_found(tmp_path: Path, seed: int) -> None:
    reference = write(tmp_path, THREE)
    with searched(reference) as (runner, drawn):
        assert not explore(runner, drawn.home, budget=600, seed=seed).failures
        found = explore(runner, drawn.home, space=drawn, budget=600, seed=seed)
    assert found.failures
    schedule = from_token(to_token(found.failures[0][0]))
    assert schedule.threads >= 3


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_a_failure_of_another_axis_value_is_found(tmp_path: Path, seed: int) -> None:
    reference = write(tmp_path, AXIS)
    with searched(reference) as (runner, drawn):
        assert not explore(runner, drawn.home, budget=600, seed=seed).failures
        found = explore(runner, drawn.home, space=drawn, budget=600, seed=seed)
    assert from_token(to_token(found.failures[0][0])).axes["kind"] == "open"


def test_the_share_elsewhere_is_the_stated_one(tmp_path: Path) -> None:
    reference = str(ROOT / "examples" / "success" / "queue_shutdown.py")
    with searched(reference) as (runner, drawn):
        found = explore(runner, drawn.home, space=drawn, budget=200, seed=1)
    elsewhere = sum(part.schedules for part in found.parts[1:])
    assert found.schedules == 200 == elsewhere + found.parts[0].schedules
    assert 0.5 * ELSEWHERE < elsewhere / (200 - HEAD) < 1.5 * ELSEWHERE


def test_a_negative_says_for_which_threads_it_is_exhaustive(tmp_path: Path) -> None:
    reference = write(tmp_path, SAFE)
    with searched(reference) as (runner, drawn):
        found = explore(runner, drawn.home, space=drawn, budget=5000)
    says = negative(found).says
    assert negative(found).certain
    assert "exhaustive up to 2 preemptions" in says
    assert "code, with 2 threads; elsewhere (" in says
    assert "(4 threads: " in says
    assert "schedules, sampled)" in says


def test_pct_states_the_probability_of_a_miss(tmp_path: Path) -> None:
    reference = str(ROOT / "examples" / "success" / "queue_shutdown.py")
    with searched(reference) as (runner, drawn):
        found = explore(runner, drawn.home, budget=5000)
    chance = found.chance
    assert chance is not None
    assert chance.threads == 2
    assert chance.steps > 2
    assert chance.runs <= found.by_strategy["pct2"]
    assert chance.miss == pytest.approx((1 - 1 / (2 * chance.steps)) ** chance.runs)
    assert f"n=2, k={chance.steps}" in negative(found).says


def test_options_narrow_what_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    three, axis = write(tmp_path, THREE), write(tmp_path, AXIS)

    def shapes(*arguments: str) -> tuple[int, list[str], int]:
        status = main(["find", *arguments, "--json", "--jobs", "2"])
        data = json.loads(capsys.readouterr().out)
        return status, [part["shape"] for part in data["shapes"]], data["threads"]

    assert shapes(three, "--threads", "2") == (0, ["2 threads"], 2)
    status, seen, threads = shapes(three, "--threads", "3-4")
    assert (status, seen[0], threads) == (1, "3 threads", 3)
    status, seen, _ = shapes(axis, "--axis", "kind=locked")
    assert status == 0
    assert set(seen) == {"2 threads, kind='locked'", "2 threads, kind='locked', size=2"}


def test_drawing_covers_every_shape_but_home() -> None:
    drawn = Space(Schedule("x", 2), range(2, 9), {"kind": ["a", "b"], "one": [1]})
    random = Random(0)
    keys = {shape_key(drawn.draw(random)) for _ in range(2000)}
    assert len(keys) == drawn.size == 13
    assert shape_key(drawn.home) not in keys
    assert Space(Schedule("x", 2)).size == 0
    assert shape_text(Schedule("x", 1, axes={"kind": "b"})) == "1 thread, kind='b'"
