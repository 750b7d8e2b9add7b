"""Two traces overlap, the first to enter is the first to leave: the flag stays True for the rest of the process.

Each saves the flag, sets it, and puts back what it saved; the second saved the first one's True. From then on every
compiled call fails. (The second also raises: its ``CURRENT_PATCHER`` is gone. In other orders the hooks of ``nn.Module``
stay as well: ``patcher.fifo``.)
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        pass


def traced(x: Any) -> Any:
    return x + 1


def tracer(shared: Shared) -> str:
    import torch

    return ",".join([node.op for node in torch.fx.symbolic_trace(traced).graph.nodes])


SCENARIO = Scenario(
    bodies=[tracer, tracer],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [tracer]),
    sequential=True,
    summary="two overlapping traces",
    modules=TORCH_MODULES,
    expect="state leaked",
    leaks=["torch.fx._symbolic_trace._is_fx_tracing_flag"],
)
