"""A plain and a threaded trainer over the same data and weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from data import random_batches
from models import drafter_for, tiny_target

from dflash.loss import Objective
from dflash.pipeline import PipelineSettings
from dflash.pipeline.trainer import ThreadedTrainer
from dflash.train import Settings, Trainer

SETTINGS = Settings(
    steps=6, anchors=3, accumulation=3, ema=0.9, weight_decay=0.01, lr=3e-3, log_every=1, checkpoint_every=2
)


def make(root: Path, settings: Settings = SETTINGS, objective: Objective | None = None, **pipeline: Any) -> Any:
    """With `pipeline` a threaded trainer, without one the plain one, over the same data and weights."""
    root.mkdir(exist_ok=True)
    target = tiny_target()
    parts = (settings, drafter_for(target), target, random_batches(root / "data"), objective or Objective(), root / "out")
    if not pipeline:
        return Trainer(*parts)
    return ThreadedTrainer(*parts, pipeline=PipelineSettings(**pipeline))


def run(trainer: Trainer, until: int | None = None) -> tuple[list[dict], dict[str, torch.Tensor]]:
    """Loss curve without the clock, and the weights."""
    entries: list[dict] = []
    trainer.run(until, report=entries.append)
    for entry in entries:
        entry.pop("tokens_per_second")
    return entries, {k: v.clone() for k, v in trainer.drafter.state_dict().items()}


def same(one: tuple[list[dict], dict], two: tuple[list[dict], dict]) -> bool:
    curves = one[0] == two[0]
    return curves and all(torch.equal(one[1][k], two[1][k]) for k in one[1])
