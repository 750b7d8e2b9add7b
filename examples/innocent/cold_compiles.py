"""Two threads compile a function of their own and call it; how often each compiled is part of the result."""

from typing import Any

from harness import TORCH_MODULES, Axes, Scenario, thread_index
from harness.oracles.effects import Effects
from harness.oracles.torch_probes import eager_module, fresh_compile


class Shared:
    def __init__(self, axes: Axes) -> None:
        import torch

        self.x = torch.ones(4)
        self.effects = Effects()
        self.backend = self.effects.counted("compiled", run_as_it_is)


def run_as_it_is(graph: Any, inputs: Any) -> Any:
    return graph.forward


def double(x: Any) -> Any:
    return x * 2


def half(x: Any) -> Any:
    return x / 2


def compile_and_call(shared: Shared) -> dict[str, Any]:
    import torch

    function = torch.compile((double, half)[thread_index() % 2], backend=shared.backend)
    return {"out": function(shared.x).tolist(), **shared.effects.mine()}


cold_compiles = Scenario(
    bodies=(compile_and_call, compile_and_call),
    setup=Shared,
    modules=TORCH_MODULES,
    threads=(2, 2),
    sequential=True,
    probes=(fresh_compile, eager_module),
    summary="first compiles of two functions",
)
