"""A block sees the target's features strictly before its anchor, in the anchor's own document."""

from __future__ import annotations

from torch import Tensor

from dflash.masks.layout import Layout, MaskMod


def features_before_anchor(layout: Layout) -> MaskMod:
    """By position, not by block index: an index would let a block see features of its own future."""
    anchor_position = layout.anchor_positions()
    anchor_document = layout.documents.gather(1, layout.anchors)
    last, size = layout.context_length - 1, layout.block_size
    documents, positions, valid = layout.documents, layout.positions, layout.valid

    def mask_mod(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        block, feature = query // size, key.clamp(max=last)
        return (
            (key <= last)
            & valid[row, block]
            & (documents[row, feature] == anchor_document[row, block])
            & (positions[row, feature] < anchor_position[row, block])
        )

    mask_mod.__name__ = "features_before_anchor"
    return mask_mod
