"""Does ``torch.compile`` still work, when the threads have ended? For ``Scenario(probes=...)``."""

from __future__ import annotations

from typing import Any


def fresh_compile(shared: Any) -> list[float]:
    """A function compiled for the first time. Raises what a leaked tracing flag or patch makes it raise."""
    import torch

    ran = []

    def backend(graph: Any, inputs: Any) -> Any:
        ran.append(1)
        return graph.forward

    def function(x: Any) -> Any:
        return x * 3 + 2

    out = torch.compile(function, backend=backend)(torch.ones(2)).tolist()
    return [*out, float(len(ran))]


def eager_module(shared: Any) -> list[float]:
    """A module called outside any trace: patches left on ``nn.Module`` make it fail."""
    import torch

    layer = torch.nn.Linear(2, 1)
    torch.nn.init.ones_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    return torch.nn.Sequential(layer)(torch.ones(1, 2)).flatten().tolist()


def warm_call(shared: Any) -> Any:
    """``shared.compiled(shared.x)``, which must have run before."""
    return shared.compiled(shared.x)
