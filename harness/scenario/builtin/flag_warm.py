"""pytorch #126024: one thread is inside a traced function, another makes a *warm* compiled call.

``Tracer.trace`` sets ``torch.fx._symbolic_trace._is_fx_tracing_flag`` for the whole process; the guard at the head of
every compiled call reads it, and takes the other thread's trace for its own.
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    """A function to trace, and a compiled one that has been called before."""

    def __init__(self, axes: Axes) -> None:
        import torch

        self.trace = axes["trace"]
        self.x = torch.ones(4)
        self.compiled = torch.compile(affine, backend="eager")
        self.compiled(self.x)


def affine(x: Any) -> Any:
    return x * 2 + 1


def traced(x: Any) -> Any:
    return x + 1


def tracer(shared: Shared) -> str:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = torch.fx.symbolic_trace(traced) if shared.trace == "symbolic_trace" else make_fx(traced)(shared.x)
    return ",".join([node.op for node in graph.graph.nodes])


def caller(shared: Shared) -> list[float]:
    out: list[float] = shared.compiled(shared.x).tolist()
    return out


SCENARIO = Scenario(
    bodies=[tracer, caller],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [tracer, caller], trace="symbolic_trace"),
    sequential=True,
    summary="a trace in one thread, a warm compiled call in another",
    axes={"trace": ["symbolic_trace", "make_fx"]},
    modules=TORCH_MODULES,
)
