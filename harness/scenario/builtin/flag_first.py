"""As flag.warm, but the other thread's call is its *first*: it compiles while the trace is going on.

With the guard taken away the compile goes ahead in the middle of a foreign trace, and may change its graph.
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._counting import Counting
from ._each import each
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.net = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Flatten(0))
        self.backend = Counting(axes["threads"])


def affine(x: Any) -> Any:
    return x * 2 + 1


def tracer(shared: Shared) -> str:
    """Traces a module, so that ``nn.Module.__call__`` and ``__getattr__`` are patched meanwhile."""
    import torch

    graph = torch.fx.symbolic_trace(shared.net)
    return ",".join([f"{node.op}:{node.target}" for node in graph.graph.nodes])


def compiler(shared: Shared) -> dict[str, Any]:
    """Wraps and calls a function that nobody has compiled before."""
    import torch

    out = torch.compile(affine, backend=shared.backend)(shared.x).tolist()
    return {"out": out, "compiled runs": shared.backend.mine()}


GRAPH = "placeholder:input,call_module:0,call_module:1,output:output"


def check(shared: Shared, results: list[Any]) -> None:
    for graph in results[0::2]:
        assert graph is None or graph.split(",")[1:] == GRAPH.split(",")[1:], f"wrong graph: {graph}"
    each(results[1::2], {"out": [3.0] * 4, "compiled runs": 1}, "call")


SCENARIO = Scenario(
    bodies=[tracer, compiler],
    setup=Shared,
    prepare=lambda: rehearse(Shared, [tracer, compiler]),
    check=check,
    summary="a trace in one thread, a first compiled call in another",
    modules=TORCH_MODULES,
)
