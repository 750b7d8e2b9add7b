"""The story: one thread is inside the AOT trace of its own ``torch.compile``, another calls its own compiled function.

Up to 2.12.1 one hand-over is enough. On 2.13.0 ``torch.compiler._is_compiling_flag``, set for everyone meanwhile,
masks the guard; but the guard reads the two flags one after the other, and two hand-overs still get through.
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    """The caller's function is warm; the compiler's is wrapped and compiled in its body."""

    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4, requires_grad=axes.get("gradient", True))
        self.compiled = torch.compile(affine, backend="eager")
        self.compiled(self.x)


def affine(x: Any) -> Any:
    return x * 2 + 1


def curve(x: Any) -> Any:
    return (x * x).sin()


def compiler(shared: Shared) -> list[float]:
    import torch

    out = torch.compile(curve, backend="aot_eager")(shared.x)
    return [round(value, 4) for value in out.tolist()]


def caller(shared: Shared) -> list[float]:
    out: list[float] = shared.compiled(shared.x).tolist()
    return out


def prepare() -> None:
    """With gradients a compile is ten times faster when it is not the first; but in a CUDA build the joint trace starts
    the autograd engine's threads, which the process that all runs are forked from must not have."""
    import torch

    rehearse(Shared, [compiler, caller], gradient=torch.version.cuda is None)


SCENARIO = Scenario(
    bodies=[compiler, caller],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    sequential=True,
    summary="an AOT compile in one thread, a warm compiled call in another",
    modules=TORCH_MODULES,
)
