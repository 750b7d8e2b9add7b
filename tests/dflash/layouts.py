"""Random packed rows with blocks, for tests of masks and attention."""

from __future__ import annotations

import torch

from dflash.anchors import sample_anchors
from dflash.masks import Layout
from dflash.model import DrafterConfig


def small_config(**changes: object) -> DrafterConfig:
    values: dict[str, object] = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 50, "block_size": 4, "mask_token_id": 49,
        "target_layer_ids": (1, 3), "num_target_layers": 6,
    }  # fmt: skip
    return DrafterConfig(**{**values, **changes})  # type: ignore[arg-type]


def random_layout(seed: int, rows: int = 2, length: int = 23, blocks: int = 5, size: int = 4) -> Layout:
    g = torch.Generator().manual_seed(seed)
    documents = torch.full((rows, length), -1)
    positions = torch.zeros(rows, length, dtype=torch.long)
    for row in range(rows):
        at, document = 0, 0
        while at < length - 2:
            n = min(int(torch.randint(1, 12, (1,), generator=g)), length - 2 - at)
            documents[row, at : at + n] = document
            positions[row, at : at + n] = torch.arange(n)
            at, document = at + n, document + 1
    candidates = (documents >= 0) & (torch.rand(rows, length, generator=g) < 0.5)
    anchors, valid = sample_anchors(candidates, blocks, g)
    return Layout(anchors, valid, documents, positions, size)
