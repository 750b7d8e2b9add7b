"""A tensor with a finalizer (``weakref.finalize``), as code that manages memory of its own puts on one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import finalize


def make(callback: Callable[[], object]) -> Any:
    import torch

    tensor: Any = torch.zeros(1)
    tensor.cycle = tensor
    finalize(tensor, callback).atexit = False
    return tensor
