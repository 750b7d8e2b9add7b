"""A user's lock and Dynamo's ``compile_lock``, taken in opposite orders (pytorch #195804, in the review).

Dynamo holds its lock while it compiles, and calls the backend under it. A backend that takes a lock of the user's waits
for the thread that has it, which waits to compile.
"""

from __future__ import annotations

import threading
from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._each import each
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.lock = threading.Lock()
        self.graphs = 0

    def backend(self, graph: Any, inputs: Any) -> Any:
        with self.lock:
            self.graphs += 1
        return graph.forward


def compiles(shared: Shared) -> list[float]:
    """The user's lock, within Dynamo's."""
    import torch

    return torch.compile(lambda x: x * 2, backend=shared.backend)(shared.x).tolist()


def compiles_under_the_lock(shared: Shared) -> list[float]:
    """Dynamo's, within the user's."""
    import torch

    with shared.lock:
        return torch.compile(lambda x: x + 1, backend="eager")(shared.x).tolist()


def check(shared: Shared, results: list[Any]) -> None:
    each(results, [2.0] * 4, "numbers")


SCENARIO = Scenario(
    bodies=[compiles, compiles_under_the_lock],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [compiles, compiles_under_the_lock]),
    check=check,
    summary="a backend that takes a lock, a compile under that lock",
    modules=TORCH_MODULES,
)
