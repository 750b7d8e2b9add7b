"""What the drafter trains on: text that the target wrote itself, with the features it had on it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from dflash.decode import generate
from dflash.demo.corpus import random_starts, windows
from dflash.sampling import Sampling
from dflash.target import TinyTarget

SHARD_ROWS = 256


def own_text(
    target: TinyTarget, text: Tensor, rows: int, prompt: int, length: int, temperature: float, seed: int
) -> Tensor:
    """`[rows, length]`: random pieces of `prompt` bytes of `text`, each continued by the target."""
    g = torch.Generator().manual_seed(seed)
    prompts = windows(text, random_starts(text, rows, prompt, g), prompt)
    found = []
    for part in prompts.split(SHARD_ROWS):
        answers = generate(target, None, part.tolist(), length - prompt, Sampling(temperature), generator=g)
        found.append(torch.cat((part, torch.tensor([a.tokens for a in answers])), dim=1))
    return torch.cat(found)


def cache_rows(
    directory: Path, rows: Tensor, prompt: int, target: TinyTarget, layer_ids: Sequence[int]
) -> int:
    """Features and final states of token rows `[N, S]` as a feature cache; returns its bytes.

    The first `prompt` tokens of a row don't count in the loss.
    """
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    size = 0
    shards = rows.split(SHARD_ROWS)
    for shard, part in enumerate(shards):
        outputs = [target.read(piece, layer_ids) for piece in part.split(32)]
        counts = torch.ones_like(part, dtype=torch.bool)
        counts[:, :prompt] = False
        tensors = {
            "tokens": part.clone(),
            "loss_mask": counts,
            "documents": torch.zeros_like(part),
            "features": torch.cat([o.features for o in outputs]),
            "final": torch.cat([o.final for o in outputs]),
        }
        save_file(tensors, directory / f"shard-{shard:05d}.safetensors")
        size += sum(t.numel() * t.itemsize for t in tensors.values())
    index = {"key": {}, "rows": len(rows), "shard_rows": SHARD_ROWS, "shards": len(shards)}
    (directory / "index.json").write_text(json.dumps(index))
    return size
