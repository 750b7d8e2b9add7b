"""pytorch #112775: while one thread traces a module, another calls an unrelated *eager* module.

``Tracer.trace`` patches ``nn.Module.__call__`` for the whole process; the call ends up in the trace, which does not know
the module.
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.net = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Flatten(0))
        self.other = torch.nn.Sequential(torch.nn.ReLU())
        self.x = torch.ones(4)


def tracer(shared: Shared) -> None:
    import torch

    torch.fx.symbolic_trace(shared.net)


def caller(shared: Shared) -> list[float]:
    out: Any = shared.other(shared.x)
    return out.tolist()


SCENARIO = Scenario(
    bodies=[tracer, caller],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [tracer, caller]),
    sequential=True,
    summary="a trace of a module in one thread, an eager call of another module in another",
    modules=TORCH_MODULES,
)
