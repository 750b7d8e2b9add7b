"""pytorch #118260, #118387: two calls with ``dynamic=False`` overlap, and the first to enter is the first to leave.

Each saves the configuration, changes it for its time, and puts back what it saved: the second puts back the first one's
change, which stays for the rest of the process. Since 2.12 each thread has a configuration of its own.
"""

from __future__ import annotations

from typing import Any

from harness import marker
from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._counting import Counting
from ._each import each
from ._rehearse import rehearse


class Shared:
    """A warm function of two frames, compiled with ``dynamic=False``, and what it may not change."""

    def __init__(self, axes: Axes) -> None:
        import torch

        pause = torch._dynamo.disable(between)

        def doubled(x: Any) -> Any:
            y = x * 2
            pause()
            return y * 2

        self.x = torch.ones(4)
        self.backend = Counting(axes["threads"])
        self.compiled = torch.compile(doubled, backend=self.backend, dynamic=False)
        self.compiled(self.x)
        self.before = settings()


def settings() -> dict[str, bool]:
    """What ``dynamic=`` patches."""
    import torch._dynamo.config as config

    return {name: getattr(config, name) for name in ("automatic_dynamic_shapes", "assume_static_by_default")}


def between() -> None:
    """Not compiled: within the call, between its two frames."""
    marker("within_the_call")


def caller(shared: Shared) -> dict[str, Any]:
    out: Any = shared.compiled(shared.x)
    return {"out": out.tolist(), "compiled runs": shared.backend.mine()}


def check(shared: Shared, results: list[Any]) -> None:
    each(results, {"out": [4.0] * 4, "compiled runs": 2}, "call")
    after = settings()
    stranded = [f"{name} is {after[name]}" for name in after if after[name] != shared.before[name]]
    assert not stranded, f"configuration stranded: {', '.join(stranded)}"


SCENARIO = Scenario(
    bodies=[caller, caller],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [caller]),
    check=check,
    summary="two overlapping calls of a function compiled with dynamic=False",
    modules=TORCH_MODULES,
)
