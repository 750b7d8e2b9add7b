"""A pipeline of threads trains as one device does: the same bits, whoever is ready first."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest
from pipelines import SETTINGS, make, run, same

from dflash.errors import UserError
from dflash.loss import Objective


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict], dict]:
    return run(make(tmp_path_factory.mktemp("one")))


@pytest.mark.parametrize("drafters", [1, 2, 3])
@pytest.mark.parametrize("targets", [1, 2])
def test_same_bits_as_one_device(drafters: int, targets: int, single, tmp_path: Path) -> None:
    threads = threading.active_count()
    found = run(make(tmp_path, targets=("cpu",) * targets, drafters=("cpu",) * drafters))
    assert same(found, single)
    assert threading.active_count() == threads


def test_a_difference_would_be_seen(single, tmp_path: Path) -> None:
    other = run(make(tmp_path, dataclasses.replace(SETTINGS, seed=1), drafters=("cpu", "cpu")))
    assert not same(other, single)


@pytest.mark.parametrize("checkpointing", ["reentrant", "non_reentrant"])
@pytest.mark.parametrize("compile", ["per_thread", "shared"])
def test_same_bits_with_flex_and_checkpointing(checkpointing: str, compile: str, tmp_path: Path) -> None:
    settings = dataclasses.replace(
        SETTINGS, steps=2, accumulation=2, attention="flex", checkpointing=checkpointing
    )
    one = run(make(tmp_path / "a", settings))
    assert same(run(make(tmp_path / "b", settings, drafters=("cpu", "cpu"), compile=compile)), one)


def test_same_bits_with_kl_to_the_target(tmp_path: Path) -> None:
    objective = Objective(ce=0.5, kl=1.0)
    one = run(make(tmp_path / "a", objective=objective))
    assert same(run(make(tmp_path / "b", objective=objective, drafters=("cpu", "cpu"))), one)


def test_stopped_anywhere_and_resumed_by_either(single, tmp_path: Path) -> None:
    make(tmp_path, drafters=("cpu", "cpu")).run(until=3)
    again = make(tmp_path)
    assert again.resume() == 2
    first = run(again, until=4)[0]
    threaded = make(tmp_path, drafters=("cpu", "cpu", "cpu"))
    assert threaded.resume() == 4
    curve, weights = run(threaded)
    assert same(([*single[0][:2], *first, *curve], weights), single)


def test_run_on_in_the_same_process(single, tmp_path: Path) -> None:
    """What the feeder had read ahead is read again."""
    trainer = make(tmp_path, drafters=("cpu", "cpu"), depth=3)
    first = run(trainer, until=1)[0]
    curve, weights = run(trainer)
    assert same(([*first, *curve], weights), single)


def test_more_drafters_than_micro_batches_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="accumulation 3: 4 drafters need at least 4"):
        make(tmp_path, drafters=("cpu",) * 4)


def test_replicas_on_the_masters_device_are_its_memory(tmp_path: Path) -> None:
    trainer = make(tmp_path, drafters=("cpu", "cpu"))
    trainer.run(until=1)
    assert trainer.threads is not None
    for worker in trainer.threads.drafters:
        assert worker.replica.pairs == []
        assert worker.replica.drafter is not trainer.drafter
    for worker in trainer.threads.targets:
        assert worker.target is not trainer.target
        shared = zip(worker.target.parameters(), trainer.target.parameters(), strict=True)
        assert all(a.data_ptr() == b.data_ptr() for a, b in shared)
