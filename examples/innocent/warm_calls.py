"""Two threads call one compiled function that has been called before: nothing is compiled, and nothing is traced."""

from typing import Any

from harness import TORCH_MODULES, Axes, Scenario
from harness.oracles.torch_probes import eager_module, fresh_compile


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.compiled = torch.compile(affine, backend="eager")
        self.compiled(self.x)


def affine(x: Any) -> Any:
    return x * 2 + 1


def call(shared: Shared) -> list[float]:
    return shared.compiled(shared.x).tolist()


warm_calls = Scenario(
    bodies=(call, call),
    setup=Shared,
    fork_after_setup=True,
    modules=TORCH_MODULES,
    sequential=True,
    probes=(fresh_compile, eager_module),
    summary="warm calls of one compiled function",
)
