"""Which tokens of a batch begin a draft block, and what the block should have said."""

from __future__ import annotations

import torch
from torch import Tensor


def eligible(loss_mask: Tensor, documents: Tensor) -> Tensor:
    """`[R, S]`: tokens whose successor is in the same document and counts in the loss."""
    found = torch.zeros_like(loss_mask, dtype=torch.bool)
    found[:, :-1] = (
        loss_mask[:, 1:].bool() & (documents[:, 1:] == documents[:, :-1]) & (documents[:, :-1] >= 0)
    )
    return found


def sample_anchors(candidates: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """`count` anchors a row without replacement, ascending: indices and validity, each `[R, A]`.

    The number of slots never changes with the data, so a compiled step is compiled once; slots for
    which a row has no candidate are invalid and point at index 0. The generator is the CPU's, so that a
    run draws the same anchors on every device.
    """
    rows, length = candidates.shape
    score = torch.rand(rows, length, generator=generator).to(candidates.device)
    score = torch.where(candidates, score, -1.0)
    best, index = score.topk(min(count, length), dim=1)
    valid = best >= 0
    # Invalid slots sort to the end, after every real index.
    index, _ = torch.where(valid, index, length).sort(dim=1)
    valid = index < length
    index = torch.where(valid, index, 0)
    if length < count:
        pad = (0, count - length)
        index, valid = torch.nn.functional.pad(index, pad), torch.nn.functional.pad(valid, pad)
    return index, valid


def block_labels(
    tokens: Tensor, loss_mask: Tensor, documents: Tensor, anchors: Tensor, valid: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """Labels and whether they count, each `[R, A, B-1]`: slot k of a block at anchor a is token a+k."""
    length = tokens.shape[1]
    offsets = torch.arange(1, block_size, device=tokens.device)
    index = anchors[:, :, None] + offsets  # [R, A, B-1]
    inside = index < length
    flat = index.clamp(max=length - 1).flatten(1)

    def take(values: Tensor) -> Tensor:
        return values.gather(1, flat).view_as(index)

    same = take(documents) == documents.gather(1, anchors)[:, :, None]
    return take(tokens), inside & same & take(loss_mask.bool()) & valid[:, :, None]
