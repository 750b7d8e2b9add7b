"""The loss without the logits of the whole batch.

Logits of every block slot over the vocabulary are the peak of memory (A x B x V numbers). The head is
frozen, so the only gradient wanted is that of the hidden states, and it can be had chunk by chunk during
the forward pass: each chunk's logits live and die before the next one's, and nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dflash.loss.objective import Objective

Head = Callable[[Tensor], Tensor]
CHUNK_BYTES = 64 << 20


@dataclass
class BlockStatistics:
    """Counts over blocks; all sums, so that batches add up."""

    correct: Tensor  # [K] slots whose most likely token is the label
    present: Tensor  # [K] slots that count
    prefix: float  # sum over blocks of the length of the agreeing prefix
    blocks: int
    loss: float  # weighted sum, before the denominator

    def __add__(self, other: BlockStatistics) -> BlockStatistics:
        return BlockStatistics(
            self.correct + other.correct, self.present + other.present,
            self.prefix + other.prefix, self.blocks + other.blocks, self.loss + other.loss,
        )  # fmt: skip

    @staticmethod
    def none(slots: int, device: torch.device) -> BlockStatistics:
        """Of no blocks with `slots` draft slots."""
        empty = torch.zeros(slots, dtype=torch.long, device=device)
        return BlockStatistics(empty, empty, 0.0, 0, 0.0)

    def accuracy(self) -> list[float]:
        """Share of agreeing slots by position in the block, from 1."""
        return (self.correct / self.present.clamp(min=1)).tolist()


def block_loss(
    states: Tensor, labels: Tensor, present: Tensor, head: Head, objective: Objective, denominator: float,
    final: Tensor | None = None, chunk_bytes: int = CHUNK_BYTES,
) -> tuple[Tensor, BlockStatistics]:  # fmt: skip
    """Loss (scalar, differentiable in `states`) and statistics.

    `states [N, K, D]` denoised draft slots, `labels, present [N, K]`, `head` the target's frozen head from
    D to V, `denominator` from `Objective.denominator` over everything the step averages, `final [N, K, D]`
    the target's own states that predict the same labels (for KL). Blocks without a label are not computed.
    """
    keep = present.any(-1).nonzero().squeeze(-1)
    if final is not None:
        final = final.index_select(0, keep)
    loss, correct, counts, prefix = _ChunkedLoss.apply(
        states.index_select(0, keep), labels.index_select(0, keep), present.index_select(0, keep),
        final, head, objective, denominator, chunk_bytes,
    )  # fmt: skip
    stats = BlockStatistics(
        correct, counts, float(prefix), int(keep.numel()), float(loss.detach()) * denominator
    )
    return loss, stats


class _ChunkedLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, labels: Tensor, present: Tensor, final: Tensor | None,
        head: Head, objective: Objective, denominator: float, chunk_bytes: int,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
        wide = torch.promote_types(states.dtype, torch.float32)
        gradient = torch.zeros_like(states) if states.requires_grad else None
        total = torch.zeros((), dtype=torch.float64, device=states.device)
        correct, prefix = torch.zeros_like(present[:1].sum(0)), torch.zeros((), device=states.device)
        blocks, size = states.shape[0], 1
        start = 0
        while start < blocks:
            part = slice(start, start + size)
            piece = states[part].detach().requires_grad_(gradient is not None)
            target_logits = None
            if final is not None:
                with torch.no_grad():
                    target_logits = head(final[part])
            with torch.set_grad_enabled(gradient is not None):
                logits = head(piece)
                loss, _ = objective(logits, labels[part], present[part], target_logits)
                if gradient is not None:
                    (gradient[part],) = torch.autograd.grad(loss / denominator, piece)
            total += loss.detach().double()
            hit = (logits.detach().argmax(-1) == labels[part]) & present[part]
            correct += hit.sum(0)
            prefix += hit.int().cumprod(-1).sum()
            if start == 0:  # the first block tells how wide the vocabulary is
                per_block = logits[0].numel() * 4
                size = max(1, chunk_bytes // per_block)
                start = 1
            else:
                start += size
        if gradient is not None:
            ctx.save_for_backward(gradient)
        counts = present.sum(0)
        ctx.mark_non_differentiable(correct, counts, prefix)
        return (total / denominator).to(wide), correct, counts, prefix

    @staticmethod
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Any, ...]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad.to(gradient.dtype), *([None] * 7)
