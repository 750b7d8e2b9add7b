"""Gradient checkpointing, applied to a drafter from outside."""

from __future__ import annotations

from functools import partial

from torch.utils.checkpoint import checkpoint

from dflash.model import Drafter


def apply(drafter: Drafter, use_reentrant: bool) -> None:
    """Recompute every layer in the backward pass instead of keeping its inner activations."""
    for layer in drafter.layers:
        layer.__dict__["forward"] = partial(checkpoint, layer.forward, use_reentrant=use_reentrant)


def remove(drafter: Drafter) -> None:
    """Undo `apply`."""
    for layer in drafter.layers:
        layer.__dict__.pop("forward", None)
