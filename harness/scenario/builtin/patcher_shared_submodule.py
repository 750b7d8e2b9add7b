"""pytorch #112775: while one thread traces a module, another calls a *submodule* of it, eagerly.

Nothing raises: the caller gets a proxy in place of a tensor, and the graph a node that nobody wrote.
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._each import each
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.net = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Flatten(0))
        self.x = torch.ones(4)


def tracer(shared: Shared) -> list[str]:
    import torch

    return [node.op for node in torch.fx.symbolic_trace(shared.net).graph.nodes]


def caller(shared: Shared) -> Any:
    out: Any = shared.net[0](shared.x)
    return out.tolist() if type(out).__name__ == "Tensor" else f"a {type(out).__name__}"


def check(shared: Shared, results: list[Any]) -> None:
    each(results[0::2], ["placeholder", "call_module", "call_module", "output"], "graph")
    each(results[1::2], [1.0] * 4, "call")


SCENARIO = Scenario(
    bodies=[tracer, caller],
    setup=Shared,
    prepare=lambda: rehearse(Shared, [tracer, caller]),
    check=check,
    summary="a trace of a module in one thread, an eager call of its submodule in another",
    modules=TORCH_MODULES,
)
