"""pytorch #190612: a collection takes names out of a module's globals while Dynamo goes through them.

The names of compiled code stand in the globals of the function's module until the code dies. An old one is kept by
the traceback of an exception in a cycle, so it dies in some later collection; ``torch._dynamo.reset()`` has long
forgotten it. If that collection falls into a compile that goes through the same globals, one item after the other:
"dictionary changed size during iteration".
"""

from __future__ import annotations

import gc
from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        from harness.garbage.code import failure

        self.x = torch.ones(4)
        failure(refused, self.x)
        torch._dynamo.reset()


def refused(x: Any) -> Any:
    from harness.garbage.code import refuse

    y = x + 1
    refuse()
    return y


def scaled(x: Any, names: dict[str, Any]) -> Any:
    return x * names["FACTOR"]


FACTOR = 3


def compiler(shared: Shared) -> list[float]:
    """Hands the globals to a compiled function, as ``dataclasses`` does on Python 3.14."""
    import torch

    return torch.compile(scaled, backend="eager")(shared.x, globals()).tolist()


def collect(shared: Shared) -> None:
    gc.collect()


SCENARIO = Scenario(
    bodies=[compiler],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [compiler, collect]),
    sequential=True,
    summary="a compile that goes through a module's globals, from which a collection takes names",
    modules=TORCH_MODULES,
    fine=["torch._dynamo.variables.lazy"],
    threads=(1, 4),
)
