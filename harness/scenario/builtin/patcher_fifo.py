"""pytorch #168042, #189884: two traces of modules overlap, and the first to enter is the first to leave.

Each saves the patcher and the methods it patches and puts back what it saved: the second finds no patcher of its own, and
the hooks of a dead trace stay in ``nn.Module``.
"""

from __future__ import annotations

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.net = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Flatten(0))


def tracer(shared: Shared) -> None:
    import torch

    torch.fx.symbolic_trace(shared.net)


SCENARIO = Scenario(
    bodies=[tracer, tracer],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [tracer]),
    sequential=True,
    summary="two overlapping traces of modules",
    modules=TORCH_MODULES,
    expect="state leaked",
    leaks=["torch.nn.modules.module.Module.__call__", "torch.nn.modules.module.Module.__getattr__"],
)
