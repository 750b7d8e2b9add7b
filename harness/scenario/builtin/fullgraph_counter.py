"""pytorch #185138: a ``fullgraph=True`` call of which nothing is compiled must raise, but not while another such call runs.

How many frames of the call were compiled is counted in C, for the process (for the thread since 2.15): a second call that
begins meanwhile takes the counter for its own and looks at nothing when it ends.
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._needs import needs
from ._rehearse import rehearse


class Shared:
    """One function that is compiled, and warm; one that Dynamo is told to skip."""

    def __init__(self, axes: Axes) -> None:
        import torch
        from torch._dynamo.decorators import skip

        self.x = torch.ones(4)
        self.doubled = torch.compile(lambda x: x * 2, backend=backend, fullgraph=True)
        self.skipped = torch.compile(skip(plus_one), backend=backend, fullgraph=True)
        self.doubled(self.x)


def plus_one(x: Any) -> Any:
    return x + 1


def backend(graph: Any, inputs: Any) -> Any:
    def run(*args: Any) -> Any:
        return graph.forward(*args)

    return run


def compiled(shared: Shared) -> list[float]:
    out: Any = shared.doubled(shared.x)
    return out.tolist()


def refused(shared: Shared) -> str:
    try:
        shared.skipped(shared.x)
    except RuntimeError:
        return "refused"
    return "not compiled, and not refused"


def prepare() -> None:
    needs("torch._dynamo.eval_frame.get_skip_reasons")  # what the error tells; 2.12 only warns
    rehearse(Shared, [compiled, refused])


SCENARIO = Scenario(
    bodies=[compiled, refused],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    summary="a compiled call with fullgraph=True, and one of which nothing is compiled",
    modules=TORCH_MODULES,
    sequential=True,
    threads=(2, 4),
)
