"""Losses of single block slots, unweighted."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Nats per slot: `logits [..., V]`, `labels [...]` to `[...]`."""
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten(), reduction="none").view_as(labels)


def kl_to_target(logits: Tensor, target_logits: Tensor, temperature: float) -> Tensor:
    """KL(target || drafter) in nats per slot, both at `temperature`: what decoding at it will compare.

    Rejection sampling accepts with probability 1 - TV(target, drafter), which this bounds by Pinsker's
    inequality; cross entropy sees one sample of the target where this sees its whole distribution.
    """
    q = F.log_softmax(logits / temperature, dim=-1)
    p = F.log_softmax(target_logits / temperature, dim=-1)
    return (p.exp() * (p - q)).sum(-1)
