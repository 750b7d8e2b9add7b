"""As flag.warm, but the other thread's call is its *first*: it compiles while the trace is going on.

With the guard taken away the compile goes ahead in the middle of a foreign trace, and may change its graph.
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.net = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Flatten(0))


def affine(x: Any) -> Any:
    return x * 2 + 1


def tracer(shared: Shared) -> None:
    """Traces a module, so that ``nn.Module.__call__`` and ``__getattr__`` are patched meanwhile."""
    import torch

    torch.fx.symbolic_trace(shared.net)


def compiler(shared: Shared) -> list[float]:
    """Wraps and calls a function that nobody has compiled before."""
    import torch

    return torch.compile(affine, backend="eager")(shared.x).tolist()


SCENARIO = Scenario(
    bodies=[tracer, compiler],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [tracer, compiler]),
    sequential=True,
    summary="a trace in one thread, a first compiled call in another",
    modules=TORCH_MODULES,
)
