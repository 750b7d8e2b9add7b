"""How much each slot of a block counts."""

from __future__ import annotations

import torch
from torch import Tensor


def decay(slots: int, gamma: float, device: torch.device | str = "cpu") -> Tensor:
    """`exp(-(k-1)/gamma)` for k = 1.., `[slots]` (arXiv 2602.06036, 4.2): an early miss ends the block."""
    return torch.exp(-torch.arange(slots, device=device, dtype=torch.float32) / gamma)


def default_gamma(block_size: int) -> float:
    """The paper's 7, 5, 4 for blocks of 16, 10, 8, on a line through them elsewhere."""
    return {16: 7.0, 10: 5.0, 8: 4.0}.get(block_size, max(1.0, 1.0 + 0.375 * block_size))


def dpace(confidence: Tensor, present: Tensor, alpha: float) -> Tensor:
    """D-PACE weights (arXiv 2605.18810, eq. 7-8) from the drafter's own confidence, without gradient.

    `confidence [N, K]` is the probability given to each label, `present [N, K]` whether the slot counts.
    With q~ = (1-alpha) q + alpha, slot j weighs sum over m >= j of prod over i <= m of q~_i: the expected
    accepted length that passes through it. Absent slots neither stop the product nor add to the sum.
    """
    smooth = torch.where(present, (1 - alpha) * confidence.detach() + alpha, 1.0)
    reached = smooth.cumprod(-1) * present
    return reached.flip(-1).cumsum(-1).flip(-1) * present
