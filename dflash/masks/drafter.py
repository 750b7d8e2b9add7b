"""The drafter's whole rule for one kind of layer."""

from __future__ import annotations

from torch import Tensor

from dflash.masks.context import features_before_anchor
from dflash.masks.layout import Layout, MaskMod
from dflash.masks.own_block import own_block
from dflash.masks.sliding import within_window


def drafter_mask(layout: Layout, window: int | None = None, causal: bool = False) -> MaskMod:
    """Features before the anchor and the own block, both within `window` tokens where one is given."""
    before, block = features_before_anchor(layout), own_block(layout, causal)
    near = None if window is None else within_window(layout, window)

    def mask_mod(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        seen = before(row, head, query, key) | block(row, head, query, key)
        return seen if near is None else seen & near(row, head, query, key)

    mask_mod.__name__ = "drafter" if window is None else f"drafter_window_{window}"
    return mask_mod
