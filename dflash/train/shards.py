"""Tensors of which each rank holds some rows (`DTensor`, as `fully_shard` leaves them), beside whole ones."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def _spread(tensor: Any) -> bool:
    return hasattr(tensor, "full_tensor")  # the class costs most of a second to import


def whole(tensor: Any) -> Tensor:
    """All rows. Where they are spread over ranks, every rank must ask, in the same order."""
    return tensor.full_tensor() if _spread(tensor) else tensor


def local(tensor: Any) -> Tensor:
    """The rows that this rank holds, in their own memory."""
    return tensor.to_local() if _spread(tensor) else tensor


@torch.no_grad()
def fill(tensor: Any, values: Tensor) -> None:
    """Copy whole `values` into `tensor`: each rank takes its own rows and asks nobody."""
    if _spread(tensor):
        parts = values.chunk(tensor.device_mesh.size(), dim=0)  # as fully_shard does
        rank = tensor.device_mesh.get_local_rank()
        values = parts[rank] if rank < len(parts) else values[:0]
    local(tensor).copy_(values)


def like(tensor: Tensor, values: Tensor) -> Tensor:
    """A tensor of its own with whole `values`, spread and placed as `tensor` is."""
    made = torch.empty_like(tensor, requires_grad=False)
    fill(made, values)
    return made
