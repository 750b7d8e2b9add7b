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

from dflash.attention.dense import CHUNK_QUERIES
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


Backend = str | Callable[..., Any]
CPU_BACKEND: Backend = "aot_eager"  # Inductor has no backward for it


@functools.cache
def _shared(backend: Backend) -> Callable[..., Tensor]:
    return torch.compile(torch_flex.flex_attention, backend=backend, dynamic=False)


_own = threading.local()


@contextlib.contextmanager
def own_compile() -> Iterator[None]:
    """In this thread, `compiled` is a `torch.compile` of its own meanwhile."""
    _own.made = {}
    try:
        yield
    finally:
        del _own.made


def compiled(backend: Backend) -> Callable[..., Tensor]:
    """`torch.compile(flex_attention)`: one for the process, or inside `own_compile` the thread's own."""
    made = getattr(_own, "made", None)
    if made is None:
        return _shared(backend)
    if backend not in made:
        made[backend] = torch.compile(torch_flex.flex_attention, backend=backend, dynamic=False)
    return made[backend]


def forget() -> None:
    """The next `compiled` wraps anew, under whatever is patched then."""
    _shared.cache_clear()


class FlexAttention:
    """Inductor's kernels on a GPU, which skip hidden tiles; on a CPU the operator's decomposition (`aot_eager`).

    The decomposition computes every score, so on a CPU it gets some blocks at a time, all parts of one shape
    for the compiler's sake.
    """

    def __init__(self, config: DrafterConfig, layout: Layout) -> None:
        self.cpu = layout.anchors.device.type == "cpu"
        self.attention = compiled(CPU_BACKEND if self.cpu else "inductor")
        rows, blocks = layout.anchors.shape
        if self.cpu:
            blocks = max(1, CHUNK_QUERIES // layout.block_size)
        self.parts = [
            (part.queries, {
                kind: flex(
                    drafter_mask(part, config.window(kind), config.is_causal(kind)),
                    rows, part.queries, part.keys, layout.anchors.device,
                )
                for kind in set(config.layer_types)
            })
            for part in layout.parts(blocks, trim=False)
        ]  # fmt: skip

    def __call__(self, layer_type: str, q: Tensor, context: KeyValue, block: KeyValue) -> Tensor:
        found, start = [], 0
        for count, masks in self.parts:
            own = slice(start, start + count)
            k, v = (torch.cat((c, b[:, :, own]), 2).to(q.dtype) for c, b in zip(context, block, strict=True))
            with gradients_on_cpu() if self.cpu else contextlib.nullcontext():
                found.append(
                    self.attention(
                        q[:, :, own], k, v, block_mask=masks[layer_type], enable_gqa=q.shape[1] != k.shape[1]
                    )
                )
            start += count
        return found[0] if len(found) == 1 else torch.cat(found, dim=2)
