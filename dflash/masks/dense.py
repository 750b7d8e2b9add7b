"""A rule as a plain boolean tensor."""

from __future__ import annotations

import torch
from torch import Tensor

from dflash.masks.layout import MaskMod


def dense(
    mask_mod: MaskMod, rows: int, queries: int, keys: int, device: torch.device | str = "cpu"
) -> Tensor:
    """`[R, 1, Q, K]`, true where the query may see the key."""
    row = torch.arange(rows, device=device)[:, None, None, None]
    query = torch.arange(queries, device=device)[None, None, :, None]
    key = torch.arange(keys, device=device)[None, None, None, :]
    seen = mask_mod(row, torch.zeros_like(row), query, key)
    return seen.expand(rows, 1, queries, keys)
