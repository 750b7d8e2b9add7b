"""pytorch #196637: "skip the guards", asked for in one thread's region, holds in another thread's call.

``set_stance(skip_guard_eval_unsafe=True)`` makes a compiled call set a flag in C that belonged to the process (to the
thread since 2.15). A call that is between two of its frames then takes the first entry of its cache, whatever the
arguments: it answers for those with which it was warmed.
"""

from __future__ import annotations

import threading
from typing import Any

from harness import marker
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._needs import needs
from ._rehearse import rehearse


class Shared:
    """Two warm functions of two frames each; ``signed`` has been called with one of its two ways alone."""

    def __init__(self, axes: Axes) -> None:
        import torch

        pause = torch._dynamo.disable(self.pause)

        def signed(x: Any, way: str) -> Any:
            y = x * 2
            pause()
            return y + 1 if way == "plus" else y - 1

        def doubled(x: Any) -> Any:
            y = x * 2
            pause()
            return y * 2

        self.x = torch.ones(4)
        self.paused = threading.Event()
        self.signed = torch.compile(signed, backend="eager")
        self.trusting = torch.compile(doubled, backend="eager")
        self.signed(self.x, "plus")
        self.trusting(self.x)
        self.paused.clear()

    def pause(self) -> None:
        """Between two frames of a call."""
        self.paused.set()
        marker("between_frames")


def careful(shared: Shared) -> list[float]:
    out: list[float] = shared.signed(shared.x, "minus").tolist()
    return out


def careless(shared: Shared) -> list[float]:
    """The region begins in the middle of the other's call: a stance is for the whole process, by design."""
    import torch

    shared.paused.wait()
    with torch.compiler.set_stance("default", skip_guard_eval_unsafe=True):
        out: list[float] = shared.trusting(shared.x).tolist()
    return out


def prepare() -> None:
    needs("torch.compiler.set_stance")
    rehearse(Shared, [careful, careless])


SCENARIO = Scenario(
    bodies=[careful, careless],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    sequential=True,
    summary="a compiled call of two frames in one thread, a region without guards in another",
    threads=(2, 2),
    modules=TORCH_MODULES,
)
