"""A fork while another thread compiles (the family of pytorch #108586).

Dynamo holds its lock while it compiles. A child that is forked then has the lock taken, by a thread that is not in it: its
first compile waits for ever. The axis ``lock``: ``held`` by the thread that forks, over the fork, is the repair.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._each import each
from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.lock = axes["lock"]


def compiles(shared: Shared) -> int:
    import torch

    torch.compile(lambda x: x * 2, backend="eager")(shared.x)
    return 0


def forks(shared: Shared) -> int:
    """The exit status of the child, which compiles."""
    import torch
    from torch._dynamo.convert_frame import compile_lock

    with compile_lock if shared.lock == "held" else nullcontext():
        child = os.fork()
    if child == 0:
        torch.compile(lambda x: x + 1, backend="eager")(shared.x)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def check(shared: Shared, results: list[Any]) -> None:
    each(results, 0, "exit status")


SCENARIO = Scenario(
    bodies=[compiles, forks],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [compiles], lock="free"),
    check=check,
    summary="a compile; a fork, whose child compiles",
    axes={"lock": ["free", "held"]},
    modules=TORCH_MODULES,
)
