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

        self.ran = 0

        def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
            def run(*args: torch.Tensor) -> Any:
                self.ran += 1
                return graph.forward(*args)

            return run

        self.trace = axes["trace"]
        self.x = torch.ones(4)
        self.compiled = torch.compile(lambda x: x * 2 + 1, backend=backend)
        self.compiled(self.x)
        self.ran = 0


def traced(x: Any) -> Any:
    return x + 1


def tracer(shared: Shared) -> str:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = torch.fx.symbolic_trace(traced) if shared.trace == "symbolic_trace" else make_fx(traced)(shared.x)
    return ",".join(node.op for node in graph.graph.nodes)


def caller(shared: Shared) -> list[float]:
    return shared.compiled(shared.x).tolist()


def check(shared: Shared, results: list[Any]) -> None:
    callers = len(results[1::2])
    assert results[1::2] == [[3.0] * 4] * callers, f"wrong numbers: {results}"
    assert results[0::2] == ["placeholder,call_function,output"] * len(results[0::2]), f"wrong graph: {results}"
    assert shared.ran == callers, f"the compiled graph ran {shared.ran} times in {callers} calls"


SCENARIO = Scenario(
    bodies=[tracer, caller],
    setup=Shared,
    prepare=lambda: rehearse(Shared, [tracer, caller], trace="symbolic_trace"),
    check=check,
    summary="a trace in one thread, a warm compiled call in another",
    axes={"trace": ["symbolic_trace", "make_fx"]},
    modules=TORCH_MODULES,
)
