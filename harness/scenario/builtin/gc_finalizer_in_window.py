"""After pytorch #96488: a finalizer runs between the installing of Dynamo's frame callback and the function.

The callback is given whatever frame starts next, and a collection there starts that of a finalizer. It is compiled, if it has
a tensor in it. An export refuses the function then, as a second graph. Where the finalizer has a graph break, which
``fullgraph=True`` forbids, its compile raises, as in any finalizer to nobody's notice; the callback is gone by then, and of the
function nothing is compiled. Since 2.13 that is an error, before it is silent.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from harness.garbage import plant
from harness.oracles.effects import Effects
from harness.scenario import Axes, Scenario

from ._rehearse import rehearse


class Shared:
    """Something to compile, and an object that is garbage already; when it dies its value is added to a sum."""

    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.sum = torch.zeros(4)
        self.effects = Effects()
        self.call, finalizer = CALLS[axes["call"]]
        plant("finalizer", quietly(finalizer(self, self.x * 3)))


def quietly(function: Callable[[], None]) -> Callable[[], None]:
    """As finalizers are written."""

    def called() -> None:
        with suppress(Exception):
            function()

    return called


def adds(shared: Shared, value: Any) -> Callable[[], None]:
    """The tensor is in a variable of the frame itself: Dynamo does not look for one in the attributes of an object."""

    def added() -> None:
        shared.sum = shared.sum + value

    return added


def adds_and_breaks(shared: Shared, value: Any) -> Callable[[], None]:
    def added() -> None:
        shared.sum = shared.sum + value
        print(end="")  # a graph break

    return added


def doubled(x: Any) -> Any:
    return x * 2


def exported(shared: Shared) -> Any:
    import torch._dynamo

    graph, _ = torch._dynamo.export(doubled)(shared.x)
    return graph(shared.x)


def fullgraph(shared: Shared) -> Any:
    import torch

    backend = shared.effects.counted("compile", eager)
    return torch.compile(doubled, backend=backend, fullgraph=True)(shared.x)


def eager(graph: Any, inputs: Any) -> Any:
    return graph.forward


#: What is called, and what the dying object runs.
CALLS = {"fullgraph": (fullgraph, adds_and_breaks), "export": (exported, adds)}


def caller(shared: Shared) -> dict[str, Any]:
    out = shared.call(shared)
    gc.collect()
    return {"out": out.tolist(), **shared.effects.mine()}


def prepare() -> None:
    for call in CALLS:
        rehearse(Shared, [caller], call=call)


SCENARIO = Scenario(
    bodies=[caller],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    sequential="collected",
    summary="an export, or a compiled call; a collection runs a finalizer with a tensor operation",
    axes={"call": list(CALLS)},
    modules=["torch._dynamo"],
    points=("pairs",),  # a window opens where C is told something; other states are many and open none
    threads=(1, 1),
)
