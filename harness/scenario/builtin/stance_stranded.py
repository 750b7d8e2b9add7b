"""pytorch #195355: two ``set_stance`` regions overlap, and the first to enter is the first to leave.

The stance belongs to the process; each region remembers the one it found and puts it back. The second puts back the first
one's ``force_eager``, and nothing is compiled for the rest of the process.
"""

from __future__ import annotations

from typing import Any

from harness import marker
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._each import each
from ._needs import needs
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)


def eagerly(shared: Shared) -> list[float]:
    import torch

    with torch.compiler.set_stance("force_eager"):
        marker("within_the_region")
        return (shared.x * 2).tolist()


def check(shared: Shared, results: list[Any]) -> None:
    each(results, [2.0] * 4, "numbers")


def prepare() -> None:
    needs("torch.compiler.set_stance")
    rehearse(Shared, [eagerly])


SCENARIO = Scenario(
    bodies=[eagerly, eagerly],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    check=check,
    summary="two overlapping regions of set_stance",
    modules=TORCH_MODULES,
    expect="state leaked",
    leaks=["torch._dynamo.eval_frame._stance"],
)
