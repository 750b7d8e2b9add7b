"""Scaled dot-product attention under a dense boolean mask: plain, and the reference for the others."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from dflash.masks import Layout, dense, drafter_mask
from dflash.model import DrafterConfig, KeyValue


def sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """`q [R, H, Q, d]` over `k, v [R, K, T, d]` with H a multiple of K; mask broadcast to `[R, H, Q, T]`."""
    return F.scaled_dot_product_attention(
        q, k.to(q.dtype), v.to(q.dtype), mask, enable_gqa=q.shape[1] != k.shape[1]
    )


class DenseAttention:
    """Memory grows with Q x (S+Q) per row and layer type; meant for small batches and for tests."""

    def __init__(self, config: DrafterConfig, layout: Layout) -> None:
        rows = layout.anchors.shape[0]
        self.masks = {
            kind: dense(
                drafter_mask(layout, config.window(kind), config.is_causal(kind)),
                rows, layout.queries, layout.keys, layout.anchors.device,
            )
            for kind in set(config.layer_types)
        }  # fmt: skip

    def __call__(self, layer_type: str, q: Tensor, context: KeyValue, block: KeyValue) -> Tensor:
        k, v = (torch.cat(pair, dim=2) for pair in zip(context, block, strict=True))
        return sdpa(q, k, v, self.masks[layer_type])
