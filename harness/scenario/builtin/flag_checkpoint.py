"""The story with gradient checkpointing (pytorch #179614): the compiled call is the *recompute* of a checkpointed layer.

It happens in backward, wherever that is, and passes the guard once more; ``use_reentrant`` makes no difference. With
``recompute=engine`` it happens in a thread of the autograd engine, as on CUDA: the backwards are nested so deep that the
engine goes on in another thread. (From that depth torch reports an error as a SystemError without its message.)
"""

from __future__ import annotations

from typing import Any

from harness.control.adopt import adopted
from harness.control.marks import thread_index
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._nested import IN_THE_ENGINE, nested
from ._rehearse import rehearse


class Shared:
    """The forward of the checkpointed layer has been done; its backward is still to come."""

    def __init__(self, axes: Axes) -> None:
        import torch
        from torch.utils.checkpoint import checkpoint

        self.inputs = [torch.ones(4, requires_grad=True) for _ in range(axes["threads"])]
        self.compiled = torch.compile(affine, backend="eager")
        self.losses = [
            checkpoint(self.layer, x, use_reentrant=axes["use_reentrant"]).sum() for x in self.inputs
        ]
        self.depth = IN_THE_ENGINE if axes["recompute"] == "engine" else 0

    def layer(self, x: Any) -> Any:
        with adopted():
            return self.compiled(x)


def affine(x: Any) -> Any:
    return (x * 2 + 1).sin()


def traced(x: Any) -> Any:
    return x + 1


def tracer(shared: Shared) -> str:
    import torch

    return ",".join([node.op for node in torch.fx.symbolic_trace(traced).graph.nodes])


def backward(shared: Shared) -> list[float]:
    """``torch.autograd.grad`` is refused by the reentrant kind; each thread has inputs of its own."""
    me = thread_index()
    nested(shared.losses[me], shared.depth).backward()
    gradient: Any = shared.inputs[me].grad
    return [round(value, 4) for value in gradient.tolist()]


def prepare() -> None:
    """The forward alone: the process that all runs are forked from must never have run a backward."""
    rehearse(Shared, [tracer], use_reentrant=False, recompute="here")


SCENARIO = Scenario(
    bodies=[tracer, backward],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    sequential=True,
    summary="a trace in one thread, the recompute of a checkpointed compiled layer in another",
    axes={"use_reentrant": [False, True], "recompute": ["here", "engine"]},
    modules=TORCH_MODULES,
)
