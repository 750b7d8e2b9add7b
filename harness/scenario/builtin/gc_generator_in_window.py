"""pytorch #96488: a suspended generator is closed between the installing of Dynamo's frame callback and the function.

To close a generator is to enter its frame with an exception set. In torch 2.0 the callback is called for that frame like for
any other, and fails at once because of that exception: the generator's ``finally`` is skipped, and the callback is not put
back, so that the function runs as it is written. Nothing is raised anywhere. Such a window is short, but a collection
may fall into it, and close whatever generator lies in a dead cycle.
"""

from __future__ import annotations

import gc
from typing import Any

from harness.garbage import plant
from harness.oracles.effects import Effects
from harness.scenario import Axes, Scenario

from ._rehearse import rehearse


class Shared:
    """A function to be compiled, and a generator that is garbage already."""

    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.effects = Effects()
        self.compiled = torch.compile(doubled, backend=self.effects.counted("compile", eager))
        plant("generator", self.closed)

    def closed(self) -> None:
        self.effects.note("close")


def eager(graph: Any, inputs: Any) -> Any:
    return graph.forward


def doubled(x: Any) -> Any:
    return x * 2


def caller(shared: Shared) -> dict[str, Any]:
    """One call; whatever was left to close is closed by its end."""
    out: Any = shared.compiled(shared.x)
    gc.collect()
    return {"out": out.tolist(), **shared.effects.mine()}


SCENARIO = Scenario(
    bodies=[caller],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [caller]),
    sequential="collected",
    summary="a first compiled call; a collection closes a suspended generator",
    modules=["torch._dynamo"],
    points=("pairs",),  # a window opens where C is told something; other states are many and open none
    threads=(1, 1),
)
