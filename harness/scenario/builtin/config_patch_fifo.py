"""pytorch #118260, #118387: two calls with ``dynamic=False`` overlap, and the first to enter is the first to leave.

Each saves the configuration, changes it for its time, and puts back what it saved: the second puts back the first one's
change, which stays for the rest of the process. Since 2.12 each thread has a configuration of its own.
"""

from __future__ import annotations

from typing import Any

from harness import marker
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    """A warm function of two frames, compiled with ``dynamic=False``, and what it may not change."""

    def __init__(self, axes: Axes) -> None:
        import torch

        pause = torch._dynamo.disable(between)

        def doubled(x: Any) -> Any:
            y = x * 2
            pause()
            return y * 2

        self.x = torch.ones(4)
        self.compiled = torch.compile(doubled, backend="eager", dynamic=False)
        self.compiled(self.x)


def between() -> None:
    """Not compiled: within the call, between its two frames."""
    marker("within_the_call")


def caller(shared: Shared) -> list[float]:
    out: list[float] = shared.compiled(shared.x).tolist()
    return out


SCENARIO = Scenario(
    bodies=[caller, caller],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [caller]),
    sequential=True,
    summary="two overlapping calls of a function compiled with dynamic=False",
    modules=TORCH_MODULES,
    leaks=["torch._dynamo.config.automatic_dynamic_shapes", "torch._dynamo.config.assume_static_by_default"],
)
