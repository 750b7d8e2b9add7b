"""pytorch #126024 with one thread: a collection inside a traced function runs a finalizer that makes a compiled call.

It is the tracing thread itself that calls, so a flag of its own for each thread changes nothing. Python only reports
what a finalizer raises: the call is lost and the trace goes on. Further threads trace nothing and compile nothing, they
drop what a collection in any thread then finds.
"""

from __future__ import annotations

import gc
from typing import Any

from harness.control.marks import thread_index
from harness.garbage import KINDS, make, plant
from harness.scenario import MAX_THREADS, TORCH_MODULES, Axes, Scenario

from ._counting import Counting
from ._rehearse import rehearse


class Shared:
    """A warm compiled function, and objects whose end calls it: one is garbage already, one more for each thread that
    will drop it."""

    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.backend = Counting(axes["threads"])
        self.compiled = torch.compile(affine, backend=self.backend)
        self.compiled(self.x)
        self.begun = 0
        self.out: list[list[float]] = []
        self.held = {index: make(axes["garbage"], self.last_call) for index in range(1, axes["threads"])}
        plant(axes["garbage"], self.last_call)

    def last_call(self) -> None:
        self.begun += 1
        self.out.append(self.compiled(self.x).tolist())


def affine(x: Any) -> Any:
    return x * 2 + 1


def traced(x: Any) -> Any:
    return x + 1


def tracer(shared: Shared) -> str:
    import torch

    return ",".join([node.op for node in torch.fx.symbolic_trace(traced).graph.nodes])


def dropper(shared: Shared) -> None:
    shared.held.pop(thread_index(), None)


def check(shared: Shared, results: list[Any]) -> None:
    assert results[0] in (None, "placeholder,call_function,output"), f"wrong graph: {results[0]}"
    assert len(shared.out) == shared.begun, f"{shared.begun - len(shared.out)} of {shared.begun} calls were lost"
    assert all(out == [3.0] * 4 for out in shared.out), f"wrong numbers: {shared.out}"
    ran = sum(shared.backend.ran) - 1  # one in set-up
    assert ran == len(shared.out), f"{len(shared.out)} calls, {ran} of them compiled"


def collect(shared: Shared) -> None:
    gc.collect()


def prepare() -> None:
    for kind in KINDS:
        rehearse(Shared, [tracer, collect], threads=1, garbage=kind)


SCENARIO = Scenario(
    bodies=[tracer, *[dropper] * (MAX_THREADS - 1)],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    check=check,
    summary="a trace; a collection runs a finalizer that makes a warm compiled call",
    axes={"garbage": list(KINDS)},
    threads=(1, MAX_THREADS),
    modules=TORCH_MODULES,
)
