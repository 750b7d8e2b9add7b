"""A token sees others less than a window away, in either direction."""

from __future__ import annotations

from torch import Tensor

from dflash.masks.layout import Layout, MaskMod


def within_window(layout: Layout, window: int) -> MaskMod:
    """Distance counted in positions of the document, as the community's loader counts it."""
    query_position, key_position = layout.query_positions(), layout.key_positions()

    def mask_mod(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (query_position[row, query] - key_position[row, key]).abs() < window

    mask_mod.__name__ = f"within_window_{window}"
    return mask_mod
