"""pytorch #187589: a compile in one thread takes away, for a while, what another thread's trace has patched.

Dynamo lifts the patches of the *process's* patcher around a frame compile. The compiled function breaks its graph, so its
second frame compiles with no guard asked; calls of modules that the tracer makes meanwhile are not recorded, and when the
compile ends the hooks of a trace that is over are put in place again.
"""

from __future__ import annotations

from typing import Any

from harness import marker
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.net = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Flatten(0))
        self.x = torch.ones(4)


def between() -> None:
    """Not compiled: the graph breaks here."""
    marker("between_frames")


def backend(graph: Any, inputs: Any) -> Any:
    """Runs within the compile."""
    return graph.forward


def broken(x: Any) -> Any:
    y = x * 2
    between()
    return y + 1


def tracer(shared: Shared) -> None:
    import torch

    torch.fx.symbolic_trace(shared.net)


def compiler(shared: Shared) -> list[float]:
    import torch

    torch._dynamo.disable(between)
    return torch.compile(broken, backend=backend)(shared.x).tolist()


SCENARIO = Scenario(
    bodies=[tracer, compiler],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [tracer, compiler]),
    sequential=True,
    summary="a trace of a module in one thread, a compile of two frames in another",
    modules=TORCH_MODULES,
)
