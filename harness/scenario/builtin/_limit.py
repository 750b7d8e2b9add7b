"""A function with as many compiled versions as Dynamo's default limit allows: one more, and it is a question of the limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_DEFAULT = 8


def scaled(x: Any, factor: int) -> Any:
    return x * factor


def raise_limit() -> None:
    """Where the calling thread's settings reach."""
    import torch._dynamo.config as config

    config.cache_size_limit = 2 * _DEFAULT  # since 2.6 an alias of recompile_limit


def eight_versions(backend: Callable[..., Any]) -> Callable[[Any, int], Any]:
    """For the factors 1 to 8, one each."""
    import torch

    compiled: Callable[[Any, int], Any] = torch.compile(scaled, backend=backend, dynamic=False)
    for factor in range(1, _DEFAULT + 1):
        compiled(torch.ones(4), factor)
    return compiled
