"""A block token sees the tokens of its own block and of no other."""

from __future__ import annotations

from torch import Tensor

from dflash.masks.layout import Layout, MaskMod


def own_block(layout: Layout, causal: bool = False) -> MaskMod:
    """Both ways inside the block, or only backwards with `causal`."""
    context, size = layout.context_length, layout.block_size

    def mask_mod(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        seen = (key >= context) & ((key - context) // size == query // size)
        return seen & (key - context <= query) if causal else seen

    mask_mod.__name__ = "own_block_causal" if causal else "own_block"
    return mask_mod
