"""Scaled dot-product attention under dense boolean masks: plain, and the reference for the others."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from dflash.masks import Layout, dense, drafter_mask
from dflash.model import DrafterConfig, KeyValue

CHUNK_QUERIES = 512  # queries per call, here and in the other backends


def sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """`q [R, H, Q, d]` over `k, v [R, K, T, d]` with H a multiple of K; mask broadcast to `[R, H, Q, T]`."""
    return F.scaled_dot_product_attention(
        q, k.to(q.dtype), v.to(q.dtype), mask, enable_gqa=q.shape[1] != k.shape[1]
    )


class DenseAttention:
    """Some blocks at a time, over their context and their own keys, so that most hidden pairs are never met.

    With all blocks in one chunk (`queries` large) this is one call under one mask of Q x (S+Q).
    """

    def __init__(self, config: DrafterConfig, layout: Layout, queries: int = CHUNK_QUERIES) -> None:
        rows, device = layout.anchors.shape[0], layout.anchors.device
        # Each part with its masks by layer type: made once per batch, not once per layer.
        self.parts = [
            (part.context_length, part.queries, {
                kind: dense(
                    drafter_mask(part, config.window(kind), config.is_causal(kind)),
                    rows, part.queries, part.keys, device,
                )
                for kind in set(config.layer_types)
            })
            for part in layout.parts(max(1, queries // layout.block_size))
        ]  # fmt: skip

    def __call__(self, layer_type: str, q: Tensor, context: KeyValue, block: KeyValue) -> Tensor:
        found, start = [], 0
        for reach, count, masks in self.parts:
            own = slice(start, start + count)
            k, v = (torch.cat((c[:, :, :reach], b[:, :, own]), 2) for c, b in zip(context, block, strict=True))
            found.append(sdpa(q[:, :, own], k, v, masks[layer_type]))
            start += count
        return found[0] if len(found) == 1 else torch.cat(found, dim=2)
