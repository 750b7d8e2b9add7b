"""Next-byte training of the tiny target."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from dflash.demo.corpus import random_starts, windows
from dflash.target import TinyConfig, TinyTarget


def train(
    text: Tensor,
    config: TinyConfig,
    steps: int,
    rows: int = 16,
    length: int = 128,
    lr: float = 3e-3,
    seed: int = 0,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> TinyTarget:
    """AdamW with a short warm-up and linear decay on random windows of `text`; returns it frozen."""
    g = torch.Generator().manual_seed(seed)
    target = TinyTarget(config).initialize(g)
    for layer in target.model.layers:  # residual branches start small, as deep as the model is
        for matrix in (layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight):
            matrix.data /= math.sqrt(2 * config.num_hidden_layers)
    optimizer = torch.optim.AdamW(target.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.01)
    warmup = max(1, steps // 20)
    for step in range(steps):
        tokens = windows(text, random_starts(text, rows, length + 1, g), length + 1)
        logits = target.head(target.read(tokens[:, :-1], ()).final)
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(target.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = lr * min((step + 1) / warmup, (steps - step) / steps)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        report(step + 1, float(loss.detach()))
    return target.freeze()


@torch.no_grad()
def validation_loss(target: TinyTarget, text: Tensor, rows: int = 256, length: int = 128) -> float:
    """Nats per byte on evenly spread windows."""
    starts = torch.linspace(0, text.numel() - length - 1, rows).long()
    total = 0.0
    for part in windows(text, starts, length + 1).split(32):
        logits = target.head(target.read(part[:, :-1], ()).final)
        total += float(F.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten(), reduction="sum"))
    return total / (rows * length)
