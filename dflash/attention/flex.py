"""Compiled flex attention under a block mask.

On a CPU the public function refuses inputs that need a gradient, although the operator under it has one
(eager, not Inductor). The refusal is a module function of torch, so lifting it is a process-wide patch:
it lives here alone, is held only around a call, and is taken back when the last thread has left.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import flex_attention as torch_flex

from dflash.masks import Layout, drafter_mask, flex
from dflash.model import DrafterConfig, KeyValue

_lock = threading.Lock()
_users = 0
_original: Any = None


def _accept(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Stands in for torch's device check: every device, gradients included."""


@contextlib.contextmanager
def gradients_on_cpu() -> Iterator[None]:
    """Lift torch's refusal of CPU gradients inside flex attention; safe to nest and to enter from threads."""
    global _users, _original
    with _lock:
        if _users == 0:
            if not hasattr(torch_flex, "_validate_device"):
                raise RuntimeError(
                    f"flex attention on a CPU is not known to work with torch {torch.__version__}: use sdpa"
                )
            _original, torch_flex._validate_device = torch_flex._validate_device, _accept
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                torch_flex._validate_device, _original = _original, None


@functools.cache
def compiled(backend: str) -> Callable[..., Tensor]:
    """`torch.compile(flex_attention)`, one for the process, so that replicas share its code."""
    return torch.compile(torch_flex.flex_attention, backend=backend, dynamic=False)


class FlexAttention:
    """Inductor's kernels on a GPU, the operator's own decomposition (`aot_eager`) on a CPU."""

    def __init__(self, config: DrafterConfig, layout: Layout) -> None:
        self.device = layout.anchors.device
        self.attention = compiled("aot_eager" if self.device.type == "cpu" else "inductor")
        rows = layout.anchors.shape[0]
        self.masks = {
            kind: flex(
                drafter_mask(layout, config.window(kind), config.is_causal(kind)),
                rows, layout.queries, layout.keys, self.device,
            )
            for kind in set(config.layer_types)
        }  # fmt: skip

    def __call__(self, layer_type: str, q: Tensor, context: KeyValue, block: KeyValue) -> Tensor:
        k, v = (torch.cat(pair, dim=2).to(q.dtype) for pair in zip(context, block, strict=True))
        lifted = gradients_on_cpu() if self.device.type == "cpu" else contextlib.nullcontext()
        with lifted:
            return self.attention(
                q, k, v, block_mask=self.masks[layer_type], enable_gqa=q.shape[1] != k.shape[1]
            )
