"""Backwards within backwards, so deep that the autograd engine goes on in a thread of its own, as it does for each GPU."""

from __future__ import annotations

from typing import Any

IN_THE_ENGINE = 61  # nested backwards; the engine allows 60 in one thread


def nested(loss: Any, depth: int) -> Any:
    """A loss whose backward runs the backward of another, and so on, the last of them that of ``loss``."""
    import torch

    if not depth:
        return loss

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            with torch.enable_grad():
                nested(loss, depth - 1).backward()
            return gradient

    return Outer.apply(torch.ones(1, requires_grad=True)).sum()
