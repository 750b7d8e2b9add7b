"""How queries find their keys: one backend per file behind the model's `Attend` protocol.

A backend is built once per batch from its layout and groups layers by type, so that a mask is made once
and not once per layer.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from dflash.attention.dense import DenseAttention
from dflash.attention.flex import FlexAttention
from dflash.masks import Layout
from dflash.model import Attend, DrafterConfig

BACKENDS: dict[str, Callable[[DrafterConfig, Layout], Attend]] = {
    "sdpa": DenseAttention,
    "flex": FlexAttention,
}


def build(backend: str, config: DrafterConfig, layout: Layout) -> Attend:
    """The named backend over a batch's layout; raises ValueError if it is unknown or can't run there."""
    if backend not in BACKENDS:
        raise ValueError(f"attention backend {backend!r} is unknown (use one of {', '.join(BACKENDS)})")
    return BACKENDS[backend](config, layout)


def default_backend(device: torch.device) -> str:
    """`flex` where its kernels exist, `sdpa` on a CPU."""
    return "sdpa" if device.type == "cpu" else "flex"


__all__ = ["BACKENDS", "DenseAttention", "FlexAttention", "build", "default_backend"]
