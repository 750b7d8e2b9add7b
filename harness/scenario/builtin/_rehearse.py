"""Runs a scenario's parts once in the forking parent, so that what torch loads and caches lazily is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def rehearse(setup: Callable[[Any], Any], bodies: Sequence[Callable[[Any], Any]], **axes: Any) -> None:
    """Set-up and bodies one after the other in this thread; then Dynamo forgets what it compiled."""
    import torch._dynamo

    shared = setup({"threads": len(bodies), **axes})
    for body in bodies:
        body(shared)
    torch._dynamo.reset()
