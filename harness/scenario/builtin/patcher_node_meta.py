"""pytorch #184917: the annotations of one thread's trace get onto the nodes of another's.

``torch.fx.traceback`` keeps for the process what new nodes are to carry.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from harness.scenario import TORCH_MODULES, Axes, Scenario

from ._rehearse import rehearse


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)


def doubled(x: Any) -> Any:
    return x * 2


def annotated(shared: Shared) -> None:
    import torch.fx.traceback as traceback
    from torch.fx.experimental.proxy_tensor import make_fx

    with traceback.preserve_node_meta(), _annotate(traceback):
        make_fx(doubled)(shared.x)


def _annotate(traceback: Any) -> AbstractContextManager[None]:
    if hasattr(traceback, "annotate"):
        return traceback.annotate({"of": "the first"})
    traceback.current_meta["custom"] = {"of": "the first"}  # up to 2.9: until preserve_node_meta ends
    return nullcontext()


def plain(shared: Shared) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    make_fx(doubled)(shared.x)


SCENARIO = Scenario(
    bodies=[annotated, plain],
    setup=Shared,
    fork_after_setup=True,
    prepare=lambda: rehearse(Shared, [annotated, plain]),
    sequential=True,
    summary="an annotated trace in one thread, a plain one in another",
    modules=TORCH_MODULES,
)
