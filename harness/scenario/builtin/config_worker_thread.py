"""pytorch #186537: what the main thread sets in ``torch._dynamo.config`` is not set in a worker thread.

Since 2.12 each thread has a configuration of its own, and a new one begins with the defaults. Here main raises the limit of
compiled versions of a function and uses up the default eight; the ninth, in a worker, is not compiled. No switch is needed:
it fails in every schedule.
"""

from __future__ import annotations

from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._counting import Counting
from ._limit import eight_versions, raise_limit
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.backend = Counting(axes["threads"])
        raise_limit()
        self.scaled = eight_versions(self.backend)


def worker(shared: Shared) -> dict[str, Any]:
    out: Any = shared.scaled(shared.x, 9)
    return {"out": out.tolist(), "compiled runs": shared.backend.mine()}


SCENARIO = Scenario(
    bodies=[worker],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [worker]),
    summary="a limit raised in main, a compile in a worker",
    modules=TORCH_MODULES,
    threads=(1, 1),
    sequential="main",
)
