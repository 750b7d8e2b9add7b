"""A rule as flex attention's block mask."""

from __future__ import annotations

import torch
from torch.nn.attention.flex_attention import BlockMask, create_block_mask

from dflash.masks.layout import MaskMod


def flex(
    mask_mod: MaskMod, rows: int, queries: int, keys: int, device: torch.device | str = "cpu", tile: int = 128
) -> BlockMask:
    """Block-sparse form over tiles of `tile` x `tile`; full ones skip the rule, empty ones are never read."""
    return create_block_mask(mask_mod, rows, None, queries, keys, device=str(device), BLOCK_SIZE=tile)
