"""pytorch #187589: a compile in one thread takes away, for a while, what another thread's trace has patched.

Dynamo lifts the patches of the *process's* patcher around a frame compile. The compiled function breaks its graph, so its
second frame compiles with no guard asked; calls of modules that the tracer makes meanwhile are not recorded, and when the
compile ends the hooks of a trace that is over are put in place again.
"""

from __future__ import annotations

from typing import Any

from harness import marker
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._counting import Counting
from ._each import each
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.net = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Flatten(0))
        self.backend = Counting(axes["threads"])
        self.x = torch.ones(4)


def between() -> None:
    """Not compiled: the graph breaks here."""
    marker("between_frames")


def broken(x: Any) -> Any:
    y = x * 2
    between()
    return y + 1


def tracer(shared: Shared) -> list[str]:
    import torch

    return [node.op for node in torch.fx.symbolic_trace(shared.net).graph.nodes]


def compiler(shared: Shared) -> dict[str, Any]:
    import torch

    torch._dynamo.disable(between)
    out = torch.compile(broken, backend=shared.backend)(shared.x).tolist()
    return {"out": out, "compiled runs": shared.backend.mine()}


def check(shared: Shared, results: list[Any]) -> None:
    each(results[0::2], ["placeholder", "call_module", "call_module", "output"], "graph")
    each(results[1::2], {"out": [3.0] * 4, "compiled runs": 2}, "call")


SCENARIO = Scenario(
    bodies=[tracer, compiler],
    setup=Shared,
    prepare=lambda: rehearse(Shared, [tracer, compiler]),
    check=check,
    summary="a trace of a module in one thread, a compile of two frames in another",
    modules=TORCH_MODULES,
)
