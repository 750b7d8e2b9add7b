"""pytorch #186537: what a thread sets in ``torch._dynamo.config`` is not set in the autograd engine's thread.

Since 2.12 each thread has a configuration of its own, also one that a backward began. A function has the eight compiled
versions that the default allows; the body raises the limit, and the ninth is called in its backward (a recompute, say). In
the engine's thread the limit is the default, and the call is not compiled. No switch is needed: it fails in every schedule.
With ``backward=here`` it does not: which thread of the engine goes on must make no difference.
"""

from __future__ import annotations

from typing import Any

from harness.control.adopt import adopted
from harness.control.marks import thread_index
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._counting import Counting
from ._limit import eight_versions, raise_limit
from ._nested import IN_THE_ENGINE, nested
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        self.backend = Counting(axes["threads"])
        self.scaled = eight_versions(self.backend)
        self.depth = IN_THE_ENGINE if axes["backward"] == "engine" else 0
        self.out: dict[int, Any] = {}


def called_in_backward(shared: Shared, function: Any, me: int) -> Any:
    """A loss in whose backward ``function`` is called."""
    import torch

    class Calls(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            with adopted(), torch.no_grad():
                shared.out[me] = function(torch.ones(4), 9).tolist()
            return gradient

    return Calls.apply(torch.ones(1, requires_grad=True)).sum()


def backward(shared: Shared) -> dict[str, Any]:
    me = thread_index()
    raise_limit()
    nested(called_in_backward(shared, shared.scaled, me), shared.depth).backward()
    return {"out": shared.out[me], "compiled runs": shared.backend.mine()}


SCENARIO = Scenario(
    bodies=[backward],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [], backward="here"),  # the process that all runs are forked from must not run a backward
    summary="a limit raised in a thread, a compile in the backward that it began",
    axes={"backward": ["engine", "here"]},
    modules=TORCH_MODULES,
    threads=(1, 1),
    sequential={"backward": "here"},
    leaks=[],  # up to 2.11 the limit that the body raises is everyone's, and stays
)
