"""pytorch #196637: which cache a call of ``torch.compile(..., isolate_recompiles=True)`` looks into, another thread decides.

The region's number is kept in C, for the process (for the thread since 2.15). A call that is between two of its frames
when another thread makes a call finds its second frame in nobody's cache, and compiles it again.
"""

from __future__ import annotations

from typing import Any

from harness import marker
from harness.oracles.effects import Effects
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._needs import needs
from ._rehearse import rehearse


class Shared:
    """Two warm functions of two frames each."""

    def __init__(self, axes: Axes) -> None:
        import torch

        pause = torch._dynamo.disable(between)

        def doubled(x: Any) -> Any:
            y = x * 2
            pause()
            return y * 2

        def tripled(x: Any) -> Any:
            y = x * 3
            pause()
            return y * 3

        self.x = torch.ones(4)
        self.effects = Effects()
        backend = self.effects.counted("compile", eager)
        compiled: Any = torch.compile  # its signature as typed lacks the argument in 2.13
        self.isolated = compiled(doubled, backend=backend, isolate_recompiles=True)
        self.plain = torch.compile(tripled, backend=backend)
        self.isolated(self.x)
        self.plain(self.x)


def eager(graph: Any, inputs: Any) -> Any:
    return graph.forward


def between() -> None:
    """Not compiled: within the call, between its two frames."""
    marker("between_frames")


def isolated(shared: Shared) -> dict[str, Any]:
    out: Any = shared.isolated(shared.x)
    return {"out": out.tolist(), **shared.effects.mine()}


def plain(shared: Shared) -> dict[str, Any]:
    out: Any = shared.plain(shared.x)
    return {"out": out.tolist(), **shared.effects.mine()}


def prepare() -> None:
    needs("torch._C._dynamo.eval_frame.set_eval_frame_isolate_recompiles_id")
    rehearse(Shared, [isolated, plain])


SCENARIO = Scenario(
    bodies=[isolated, plain],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    summary="two warm calls of two frames, one of them with caches of its own",
    modules=TORCH_MODULES,
    sequential=True,
    threads=(2, 4),
)
