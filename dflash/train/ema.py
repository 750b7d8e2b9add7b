"""Exponential moving average of the weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor, nn


class Ema:
    """`decay` is approached from below over the first steps, so that the initial weights don't linger."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights: dict[str, Tensor] = {n: p.detach().clone() for n, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model: nn.Module, step: int) -> None:
        """After optimizer step number `step` (from 0)."""
        decay = min(self.decay, (1 + step) / (10 + step))
        for name, parameter in model.named_parameters():
            self.weights[name].lerp_(parameter, 1 - decay)

    @contextlib.contextmanager
    def swapped_in(self, model: nn.Module) -> Iterator[None]:
        """The averaged weights in the model's place, for evaluation or export."""
        own = {n: p.detach().clone() for n, p in model.named_parameters()}
        self._copy(model, self.weights)
        try:
            yield
        finally:
            self._copy(model, own)

    @staticmethod
    @torch.no_grad()
    def _copy(model: nn.Module, weights: dict[str, Tensor]) -> None:
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
