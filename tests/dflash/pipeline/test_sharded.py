"""A drafter sharded over two ranks trains as on one device, and leaves the same checkpoints."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import forked
import pytest
import torch
import torch.distributed as dist
from data import random_batches
from models import drafter_for, tiny_target
from pipelines import SETTINGS
from safetensors.torch import load_file

from dflash.errors import UserError
from dflash.loss import Objective
from dflash.pipeline import sharding
from dflash.pipeline.processes import ProcessTrainer
from dflash.pipeline.ranks import connected, place
from dflash.pipeline.sharded import ShardedTrainer
from dflash.train import Settings, Trainer, checkpoint
from dflash.train.shards import local, whole

BASE = dataclasses.replace(SETTINGS, steps=4, accumulation=2, clip=0.1)
CASES = {
    "plain": BASE,
    "reentrant": dataclasses.replace(BASE, steps=2, checkpointing="reentrant"),
    "non_reentrant": dataclasses.replace(BASE, steps=2, checkpointing="non_reentrant", ema=None),
    "bfloat16": dataclasses.replace(BASE, steps=2, precision="bfloat16"),
    "rest": dataclasses.replace(BASE, steps=2, accumulation=3),  # nothing is left for rank 1 in the second round
}


def make(kind: type[Trainer], out: Path, settings: Settings = BASE, who: int = 0) -> Any:
    out.mkdir(exist_ok=True)
    target = tiny_target()
    data = random_batches(out / f"data{who}")
    return kind(settings, drafter_for(target), target, data, Objective(), out)


def train(root: Path) -> None:
    """What each of the two ranks does."""
    torch.set_num_threads(1)
    rank = place()[0]
    with connected(torch.device("cpu")):
        for name, settings in CASES.items():
            make(ShardedTrainer, root / f"{name}-sharded", settings, rank).run()
        make(ProcessTrainer, root / "plain-replicated", BASE, rank).run()
        for step, kind in enumerate((ShardedTrainer, ProcessTrainer, ShardedTrainer)):
            begun = make(kind, root / "begun", dataclasses.replace(BASE, checkpoint_every=1), rank)
            if step:
                assert begun.resume() == step
            begun.run(until=step + 1)
            dist.barrier()  # rank 0 has written
        ended = make(ShardedTrainer, root / "ended", BASE, rank)
        assert ended.resume() == 2
        ended.run()
        shares(ended)
        with ended.averaged() as drafter:
            assert (drafter is ended.drafter) == (rank == 1), "one rank evaluates"


def shares(trainer: ShardedTrainer) -> None:
    """Half of everything lies here, and both ways to a gradient's norm agree."""
    parameters = list(trainer.drafter.parameters())
    count = sum(p.numel() for p in parameters)
    assert sum(local(p).numel() for p in parameters) == count / 2
    moments = [v for s in trainer.optimizer.state.values() for v in s.values() if v.ndim]
    assert sum(local(m).numel() for m in moments) == count
    for p in parameters:
        p.grad = p.detach().clone()
    norm = sharding.clip(parameters, 1e9, exact=False)
    assert norm == pytest.approx(sharding.clip(parameters, 0.5, exact=True), rel=1e-6)
    assert norm > 0.5
    assert sharding.clip(parameters, 1e9, exact=True) == pytest.approx(0.5, rel=1e-4)
    assert whole(parameters[0]).shape == parameters[0].shape


def outcome(out: Path) -> tuple[list[dict], dict[str, dict[str, torch.Tensor]]]:
    curve = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    for entry in curve:
        entry.pop("tokens_per_second")
    last = checkpoint.find(out / "checkpoints")[-1]
    return curve, {p.name: load_file(p) for p in last.glob("*.safetensors")}


def same(one: Path, two: Path) -> bool:
    (curve, tensors), (other, others) = outcome(one), outcome(two)
    named = [(f, n) for f in tensors for n in tensors[f]]
    assert named == [(f, n) for f in others for n in others[f]]
    return curve == other and all(torch.equal(tensors[f][n], others[f][n]) for f, n in named)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ranks")
    make(Trainer, root / "ended").run(until=2)  # which the ranks go on from
    forked.start(2, "test_sharded", "train", root)
    for name, settings in CASES.items():
        make(Trainer, root / name, settings).run()
    return root


@pytest.mark.parametrize("name", ["plain", "reentrant", "non_reentrant"])
def test_two_ranks_train_as_one_device_to_the_bit(name: str, ranks: Path) -> None:
    assert same(ranks / name, ranks / f"{name}-sharded")
    assert all(entry["gradient_norm"] > BASE.clip for entry in outcome(ranks / name)[0]), "clipping took part"


def test_replicas_of_the_drafter_do_too(ranks: Path) -> None:
    assert same(ranks / "plain", ranks / "plain-replicated")


@pytest.mark.parametrize(("name", "bound"), [("rest", 1e-5), ("bfloat16", 1e-3)])
def test_sums_that_are_grouped_otherwise_stay_within_rounding(name: str, bound: float, ranks: Path) -> None:
    """A rest of micro-batches; two uses of one weight, whose bfloat16 copies are not kept from one to the other."""
    one, two = outcome(ranks / name)[0], outcome(ranks / f"{name}-sharded")[0]
    assert [e["loss"] for e in two] == pytest.approx([e["loss"] for e in one], rel=bound)
    assert [e["gradient_norm"] for e in two] == pytest.approx([e["gradient_norm"] for e in one], rel=bound)


def test_a_checkpoint_of_either_is_gone_on_from_by_the_other(ranks: Path) -> None:
    assert same(ranks / "plain", ranks / "ended"), "begun on one device, ended by ranks"
    begun = make(Trainer, ranks / "begun")
    assert begun.resume() == 3
    begun.run()
    assert same(ranks / "plain", ranks / "begun"), "sharded, replicated, sharded, then on one device"


def test_recomputed_layers_give_the_same_bits_too(tmp_path: Path) -> None:
    """For the same reason: gradients of the fused features are added up by layer."""
    for name in ("none", "reentrant", "non_reentrant"):
        make(Trainer, tmp_path / name, dataclasses.replace(BASE, steps=2, checkpointing=name)).run()
    assert same(tmp_path / "none", tmp_path / "reentrant")
    assert same(tmp_path / "none", tmp_path / "non_reentrant")


def test_one_rank_or_an_old_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"pipeline.drafter sharded: needs at least 2 ranks, not 1; use replicated"):
        sharding.require("pipeline.drafter", 1)
    sharding.require("pipeline.drafter", 2)
    import torch.distributed.fsdp as fsdp

    monkeypatch.delattr(fsdp, "fully_shard")
    with pytest.raises(UserError, match=r"pipeline.target sharded: needs torch 2.7 or later, this is 2"):
        sharding.require("pipeline.target", 2)
