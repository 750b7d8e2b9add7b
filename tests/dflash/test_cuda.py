"""The same truths on a GPU; skipped, and so not shown, where there is none."""

from __future__ import annotations

from pathlib import Path

import forked
import pytest
import torch
from data import random_batches
from layouts import random_layout
from models import drafter_for, tiny_target

from dflash import attention
from dflash.decode import generate
from dflash.loss import Objective
from dflash.masks import Layout
from dflash.pipeline.ranks import connected, place
from dflash.pipeline.sharded import ShardedTrainer
from dflash.train import Settings, Trainer

pytestmark = [pytest.mark.cuda, pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")]


def test_flex_agrees_with_sdpa() -> None:
    target = tiny_target(hidden_size=64, head_dim=16)
    drafter = drafter_for(target, hidden_size=64, head_dim=16).cuda()
    on_cpu = random_layout(0, length=200, blocks=40)
    layout = Layout(
        on_cpu.anchors.cuda(), on_cpu.valid.cuda(), on_cpu.documents.cuda(), on_cpu.positions.cuda(), 4
    )
    block = torch.randn(2, layout.queries, 64, device="cuda")
    features = torch.randn(2, 200, 128, device="cuda")
    found = []
    for backend in ("sdpa", "flex"):
        drafter.zero_grad()
        attend = attention.build(backend, drafter.config, layout)
        out = drafter(block, features, layout.query_positions(), layout.positions, attend)
        out.square().mean().backward()
        found.append((out.detach(), drafter.fc.weight.grad.clone()))
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, atol=1e-3, rtol=1e-2)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_training_and_decoding(precision: str, tmp_path: Path) -> None:
    target = tiny_target(hidden_size=64, head_dim=16).cuda()
    drafter = drafter_for(target, head_dim=16)
    settings = Settings(steps=20, lr=3e-3, anchors=4, precision=precision, log_every=1, checkpoint_every=10)
    entries: list[dict] = []
    trainer = Trainer(
        settings, drafter, target, random_batches(tmp_path / "d"), Objective(), tmp_path / "out"
    )
    trainer.run(report=entries.append)
    assert entries[-1]["loss"] < entries[0]["loss"]
    drafter.eval()
    prompts = [[1, 2, 3], [4]]
    plain = generate(target, None, prompts, 12)
    assert [r.tokens for r in generate(target, drafter, prompts, 12)] == [r.tokens for r in plain]


def sharded(root: Path) -> None:
    rank = place()[0]
    device = torch.device("cuda", rank)
    with connected(device):
        target = tiny_target(hidden_size=64, head_dim=16).to(device)
        settings = Settings(
            steps=20, lr=3e-3, anchors=4, accumulation=2, precision="bfloat16", checkpointing="non_reentrant",
            log_every=1, checkpoint_every=10,
        )  # fmt: skip
        entries: list[dict] = []
        source = random_batches(root / f"d{rank}")
        trainer = ShardedTrainer(
            settings, drafter_for(target, head_dim=16), target, source, Objective(), root / "out"
        )
        trainer.run(report=entries.append)
        assert entries[-1]["loss"] < entries[0]["loss"]
        assert trainer.resume() == 20


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two GPUs")
def test_training_sharded_over_two_gpus(tmp_path: Path) -> None:
    forked.start(2, "test_cuda", "sharded", tmp_path)
