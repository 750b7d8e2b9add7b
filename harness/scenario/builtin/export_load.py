"""pytorch #195099: two threads load exported programs at the same time, and one is refused.

``torch.export`` keeps the deserializer that is at work in a global of its module, and asserts that there is no other.
"""

from __future__ import annotations

import io
from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._each import each
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        class Doubled(torch.nn.Module):
            def forward(self, x: Any) -> Any:
                return x * 2

        file = io.BytesIO()
        torch.export.save(torch.export.export(Doubled(), (torch.ones(4),)), file)
        self.saved = file.getvalue()


def loader(shared: Shared) -> list[str]:
    import torch

    program = torch.export.load(io.BytesIO(shared.saved))
    return [node.op for node in program.graph.nodes]


def check(shared: Shared, results: list[Any]) -> None:
    each(results, ["placeholder", "call_function", "output"], "graph")


SCENARIO = Scenario(
    bodies=[loader, loader],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [loader]),
    check=check,
    summary="two loads of an exported program",
    modules=[*TORCH_MODULES, "torch._export.serde"],
)
