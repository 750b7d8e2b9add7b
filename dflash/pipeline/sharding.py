"""FSDP2 (`fully_shard`): each rank keeps some rows of every matrix, and has a layer whole only while it runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from dflash.errors import UserError
from dflash.model import Drafter
from dflash.train.shards import local, whole


def require(key: str, ranks: int) -> None:
    """Raise UserError, naming the configuration's `key`, where nothing can be sharded."""
    if ranks < 2:
        raise UserError(f"{key} sharded: needs at least 2 ranks, not {ranks}; use replicated")
    try:
        from torch.distributed.fsdp import fully_shard

        fits = "ignored_params" in inspect.signature(fully_shard).parameters
    except ImportError:
        fits = False
    if not fits:
        raise UserError(f"{key} sharded: needs torch 2.7 or later, this is {torch.__version__}; use replicated")


def _tool(device: torch.device) -> Callable[..., Any]:
    """`fully_shard` over all ranks, by the process group that is there."""
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import fully_shard

    group = dist.group.WORLD
    assert group is not None
    return functools.partial(fully_shard, mesh=DeviceMesh.from_group(group, device.type))


def shard_drafter(drafter: Drafter, device: torch.device) -> None:
    """In place, onto `device` layer by layer; gradients are added up over ranks, not averaged."""
    shard = _tool(device)
    for module in (*drafter.layers, drafter):
        made = shard(module)
        # The denominator of the loss is the whole step's already. Gloo knows plain sums alone.
        factor = getattr(made, "set_gradient_divide_factor", None) or made.set_reduce_scatter_divide_factor
        factor(1.0)
        if hasattr(made, "set_force_sum_reduction_for_comms"):
            made.set_force_sum_reduction_for_comms(True)


def shard_frozen(body: nn.Module, layers: Sequence[nn.Module], device: torch.device) -> None:
    """Spread the layers over ranks, one by one onto `device`; what else `body` has stays whole where it is."""
    for layer in layers:
        for parameter in layer.parameters():
            parameter.data = parameter.data.contiguous()  # what was dequantized may not be
    spread = {id(p) for layer in layers for p in layer.parameters()}
    rest = {p for p in body.parameters() if id(p) not in spread}
    shard = _tool(device)
    for layer in layers:
        shard(layer, reshard_after_forward=True)
    # One root over all: without it a layer's weights would not be fetched while the one before still computes.
    shard(body, ignored_params=rest)


@torch.no_grad()
def clip(parameters: Iterable[nn.Parameter], limit: float, exact: bool) -> float:
    """`clip_grad_norm_` over ranks; returns the norm before.

    `exact` gathers one gradient after the other, so that the sum is that of one device to the bit; otherwise
    ranks add up the squares of their own rows.
    """
    found = [p.grad for p in parameters if p.grad is not None]
    norms = torch.stack([torch.linalg.vector_norm(whole(g) if exact else local(g)) for g in found])
    if exact:
        norm = torch.linalg.vector_norm(norms)
    else:
        square = norms.square().sum()
        dist.all_reduce(square)
        norm = square.sqrt()
    factor = (limit / (norm + 1e-6)).clamp(max=1.0)
    for gradient in found:
        local(gradient).mul_(factor)
    return float(norm)
