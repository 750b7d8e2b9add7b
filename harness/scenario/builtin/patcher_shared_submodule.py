"""pytorch #112775: while one thread traces a module, another calls a *submodule* of it, eagerly.

Nothing raises: the caller gets a proxy in place of a tensor, and the graph a node that nobody wrote.
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.net = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Flatten(0))
        self.x = torch.ones(4)


def tracer(shared: Shared) -> None:
    import torch

    torch.fx.symbolic_trace(shared.net)


def caller(shared: Shared) -> Any:
    out: Any = shared.net[0](shared.x)
    return out.tolist() if type(out).__name__ == "Tensor" else f"a {type(out).__name__}"


SCENARIO = Scenario(
    bodies=[tracer, caller],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [tracer, caller]),
    sequential=True,
    summary="a trace of a module in one thread, an eager call of its submodule in another",
    modules=TORCH_MODULES,
)
