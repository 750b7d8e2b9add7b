"""Within the bound that a negative states, a planted bug is always found: 20 programs, with the bug and repaired."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.planted import program

from harness.run.inline import InlineRunner
from harness.run.job import Job
from harness.schedule import Schedule
from harness.search import Exploration, explore
from harness.search.certify import negative
from harness.search.exhaustive import Exhaustive
from harness.search.knowledge import Knowledge
from harness.search.strategy import Ground, Proposal

PROGRAMS = range(20)


def write(folder: Path, seed: int, repaired: bool) -> str:
    path = folder / f"planted_{seed}_{'repaired' if repaired else 'racy'}.py"
    path.write_text(program(seed, repaired))
    return str(path)


def search(reference: str, **options: object) -> Exploration:
    with InlineRunner(reference) as runner:
        return explore(runner, Schedule(reference, 2), budget=100_000, **options)  # type: ignore[arg-type]


def one_preemption(reference: str) -> tuple[int, int]:
    """(schedules, failing ones) with one preemption at every place of the program."""
    with InlineRunner(reference) as runner:
        ground = Ground(Schedule(reference, 2), Knowledge(), Random(0))
        strategy = Exhaustive(ground, bound=1, least=1)
        todo = [Proposal(Schedule(reference, 2, first), "control") for first in (0, 1)]
        runs = failing = 0
        while todo:
            report = runner.run(Job(todo[0].schedule))
            ground.knowledge.learn(report)
            strategy.told(todo.pop(0), report)
            runs += 1
            failing += report.failed
            if not todo and (proposal := strategy.next()) is not None:
                todo.append(proposal)
        assert strategy.complete() == 1
        return runs, failing


def certified(twin: Exploration) -> None:
    assert not twin.failures
    certificate = negative(twin)
    assert certificate.certain, certificate.says
    assert twin.complete == 2
    assert "exhaustive up to 2 preemptions" in certificate.says


@pytest.mark.parametrize("seed", PROGRAMS)
def test_a_bug_of_two_preemptions_is_found_within_the_stated_bound(tmp_path: Path, seed: int) -> None:
    certified(search(write(tmp_path, seed, repaired=True), strategy="exhaustive"))
    racy = write(tmp_path, seed, repaired=False)
    runs, failing = one_preemption(racy)
    assert runs > 4
    assert failing == 0, "the planted bug is none of depth 2"
    assert search(racy, strategy="exhaustive", seed=seed).failures


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed > 0 else []) for seed in PROGRAMS]
)
def test_and_by_the_portfolio(tmp_path: Path, seed: int) -> None:
    certified(search(write(tmp_path, seed, repaired=True), seed=seed))
    assert search(write(tmp_path, seed, repaired=False), seed=seed).failures
