"""Context and block attended apart and merged: the CPU's fast path.

A query's keys are the context before its anchor and the B keys of its own block; the other blocks' keys,
most of a dense mask, are never touched. Anchors ascend, so a chunk of blocks needs the context up to its
last anchor only, which halves what is left. Each part runs torch's CPU flash kernel, which gives the
log-sum-exp of its scores; the parts merge exactly by those. Backwards, the same kernels, handed the merged
output and log-sum-exp, give each part's own gradients: nothing is recomputed and no scores are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dflash.attention.dense import CHUNK_QUERIES
from dflash.masks import Layout, drafter_mask
from dflash.model import DrafterConfig, KeyValue

_flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_flash_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


@dataclass(frozen=True)
class _Chunk:
    start: int  # first query
    stop: int
    reach: int  # context tokens that any of its blocks may see
    bias: Tensor  # [R, 1, q, reach] 0 or -inf
    blind: Tensor  # [R, 1, q] true where a query sees no context at all


class SplitAttention:
    """Built once per batch; raises ValueError off the CPU, whose kernels it calls."""

    def __init__(self, config: DrafterConfig, layout: Layout) -> None:
        if layout.anchors.device.type != "cpu":
            raise ValueError(
                f"attention backend 'split' runs on a CPU, not on {layout.anchors.device}: use flex"
            )
        self.size = layout.block_size
        self.layout = layout
        self.rules = {
            kind: drafter_mask(layout, config.window(kind), config.is_causal(kind))
            for kind in set(config.layer_types)
        }
        self.chunks: dict[tuple[str, torch.dtype], list[_Chunk]] = {}
        self.inner = {kind: self._inner(config, kind) for kind in self.rules}

    def _inner(self, config: DrafterConfig, kind: str) -> Tensor | None:
        """What a block sees of itself, `[B, B]`; None when everything."""
        i = torch.arange(self.size)
        seen = torch.ones(self.size, self.size, dtype=torch.bool)
        if config.is_causal(kind):
            seen &= i[None, :] <= i[:, None]
        if (window := config.window(kind)) is not None:
            seen &= (i[None, :] - i[:, None]).abs() < window
        return None if bool(seen.all()) else seen

    def _chunks(self, kind: str, dtype: torch.dtype) -> list[_Chunk]:
        if (kind, dtype) in self.chunks:
            return self.chunks[kind, dtype]
        layout, rule, found = self.layout, self.rules[kind], []
        rows = layout.anchors.shape[0]
        per_chunk = max(1, CHUNK_QUERIES // self.size)
        row = torch.arange(rows)[:, None, None, None]
        for first in range(0, layout.anchors.shape[1], per_chunk):
            blocks = layout.anchors[:, first : first + per_chunk]
            start, stop = first * self.size, (first + blocks.shape[1]) * self.size
            reach = max(1, int(blocks.max()))
            query = torch.arange(start, stop)[None, None, :, None]
            seen = rule(row, torch.zeros_like(row), query, torch.arange(reach)[None, None, None, :])
            seen = seen.expand(rows, 1, stop - start, reach)
            bias = torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, float("-inf"))
            found.append(_Chunk(start, stop, reach, bias, ~seen.any(-1)))
        self.chunks[kind, dtype] = found
        return found

    def __call__(self, layer_type: str, q: Tensor, context: KeyValue, block: KeyValue) -> Tensor:
        keys_values = [x.to(q.dtype) for x in (*context, *block)]
        return _Split.apply(
            q, *keys_values, self._chunks(layer_type, q.dtype), self.inner[layer_type], self.size
        )


def _fold(x: Tensor, heads: int) -> Tensor:
    """Query heads that share a key head become more queries: `[R, H, q, d]` to `[R, K, H/K*q, d]`."""
    return x.reshape(x.shape[0], heads, -1, x.shape[-1])


def _to_blocks(x: Tensor, heads: int, size: int) -> Tensor:
    """`[R, H, q, d]` to `[R*q/B, K, H/K*B, d]`: every block a batch entry of its own."""
    rows, all_heads, queries, d = x.shape
    x = x.view(rows, heads, all_heads // heads, queries // size, size, d)
    return x.permute(0, 3, 1, 2, 4, 5).reshape(rows * (queries // size), heads, -1, d)


def _from_blocks(x: Tensor, rows: int, all_heads: int, size: int) -> Tensor:
    """Inverse of `_to_blocks`."""
    blocks, heads, _, d = x.shape
    x = x.view(rows, blocks // rows, heads, all_heads // heads, size, d)
    return x.permute(0, 2, 3, 1, 4, 5).reshape(rows, all_heads, -1, d)


class _Split(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, kc: Tensor, vc: Tensor, kb: Tensor, vb: Tensor,
        chunks: list[_Chunk], inner: Tensor | None, size: int,
    ) -> Tensor:  # fmt: skip
        rows, all_heads, _, _ = q.shape
        heads, group = kc.shape[1], q.shape[1] // kc.shape[1]
        out = torch.empty_like(q, memory_format=torch.contiguous_format)
        lse = q.new_empty(q.shape[:3], dtype=torch.promote_types(q.dtype, torch.float32))
        bias = _inner_bias(inner, group, q.dtype)
        for c in chunks:
            part = slice(c.start, c.stop)
            qs = q[:, :, part].contiguous()
            o1, l1 = _flash(
                _fold(qs, heads),
                kc[:, :, : c.reach],
                vc[:, :, : c.reach],
                attn_mask=c.bias.repeat(1, 1, group, 1),
            )
            o1, l1 = o1.reshape(qs.shape), l1.reshape(qs.shape[:3])
            l1 = torch.where(c.blind, float("-inf"), l1)
            o2, l2 = _flash(
                _to_blocks(qs, heads, size), _to_blocks(kb[:, :, part].contiguous(), heads, size),
                _to_blocks(vb[:, :, part].contiguous(), heads, size), attn_mask=bias,
            )  # fmt: skip
            o2 = _from_blocks(o2, rows, all_heads, size)
            l2 = _from_blocks(l2.unsqueeze(-1), rows, all_heads, size).squeeze(-1)
            total = torch.logaddexp(l1, l2)
            lse[:, :, part] = total
            w1, w2 = (l1 - total).exp()[..., None].to(q.dtype), (l2 - total).exp()[..., None].to(q.dtype)
            out[:, :, part] = o1 * w1 + o2 * w2
        ctx.save_for_backward(q, kc, vc, kb, vb, out, lse)
        ctx.plan = (chunks, inner, size)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        q, kc, vc, kb, vb, out, lse = ctx.saved_tensors
        chunks, inner, size = ctx.plan
        rows, all_heads, _, _ = q.shape
        heads, group = kc.shape[1], q.shape[1] // kc.shape[1]
        bias = _inner_bias(inner, group, q.dtype)
        dq, dkb, dvb = torch.empty_like(q), torch.empty_like(kb), torch.empty_like(vb)
        dkc, dvc = torch.zeros_like(kc), torch.zeros_like(vc)
        for c in chunks:
            part = slice(c.start, c.stop)
            g, qs, o = (x[:, :, part].contiguous() for x in (grad, q, out))
            total = lse[:, :, part].contiguous()
            dq1, dk1, dv1 = _flash_backward(
                _fold(g, heads), _fold(qs, heads), kc[:, :, : c.reach], vc[:, :, : c.reach], _fold(o, heads),
                _kernel_layout(total.reshape(rows, heads, -1)), 0.0, False,
                attn_mask=c.bias.repeat(1, 1, group, 1),
            )  # fmt: skip
            dkc[:, :, : c.reach] += dk1
            dvc[:, :, : c.reach] += dv1
            blocks = [_to_blocks(x, heads, size) for x in (g, qs)]
            keys = [_to_blocks(x[:, :, part].contiguous(), heads, size) for x in (kb, vb)]
            dq2, dk2, dv2 = _flash_backward(
                *blocks, *keys, _to_blocks(o, heads, size),
                _kernel_layout(_to_blocks(total.unsqueeze(-1), heads, size).squeeze(-1)), 0.0, False,
                attn_mask=bias,
            )  # fmt: skip
            dq[:, :, part] = dq1.reshape(qs.shape) + _from_blocks(dq2, rows, all_heads, size)
            dkb[:, :, part] = _from_blocks(dk2, rows, heads, size)
            dvb[:, :, part] = _from_blocks(dv2, rows, heads, size)
        return dq, dkc, dvc, dkb, dvb, None, None, None


def _inner_bias(inner: Tensor | None, group: int, dtype: torch.dtype) -> Tensor | None:
    if inner is None:
        return None
    bias = torch.zeros(inner.shape, dtype=dtype).masked_fill_(~inner, float("-inf"))
    return bias.repeat(group, 1)[None, None]


def _kernel_layout(lse: Tensor) -> Tensor:
    """Log-sum-exp `[R, K, q]` with the strides of the forward kernel's own, heads innermost."""
    return lse.transpose(1, 2).contiguous().transpose(1, 2)
