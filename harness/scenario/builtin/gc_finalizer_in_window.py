"""pytorch #96488 in its present form: a finalizer runs when Dynamo has begun to look at frames, before the frame meant.

A compiled call first tells the interpreter to give frames to Dynamo, and then calls the function. Where a collection falls
in between, the first frame is a finalizer's, and Dynamo compiles it as if it were the function: ``torch._dynamo.export``
meets a second graph; ``fullgraph=True`` meets the graph break of the finalizer.
"""

from __future__ import annotations

import gc
from typing import Any

from harness.garbage import plant
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.ended: list[float] = []
        self.how = axes["how"]
        plant("finalizer", self.breaks if self.how == "fullgraph" else self.adds)

    def adds(self) -> None:
        self.total = self.x + 1

    def breaks(self) -> None:
        self.total = self.x + 1
        print(end="")


def doubled(x: Any) -> Any:
    return x * 2


def compiler(shared: Shared) -> list[float]:
    import torch

    if shared.how == "export":
        function: Any = torch._dynamo.export(doubled)(shared.x).graph_module
    else:
        function = torch.compile(doubled, backend="eager", fullgraph=True)
    return function(shared.x).tolist()


def collect(shared: Shared) -> None:
    gc.collect()


def prepare() -> None:
    for how in ("export", "fullgraph"):
        rehearse(Shared, [compiler, collect], how=how)


SCENARIO = Scenario(
    bodies=[compiler],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    summary="a compile; a collection runs a finalizer before the function that is to be compiled",
    axes={"how": ["export", "fullgraph"]},
    modules=TORCH_MODULES,
    fine=["torch._dynamo.eval_frame"],
    threads=(1, 1),
)
