"""Say whether this machine and its packages fit."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
from typing import Any

from dflash.commands.arguments import answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace) -> int:
    values = examine()
    lines = [f"{name:<28} {value}" for name, value in values.items()]
    answer(options, values, "\n".join(lines))
    return 0 if values["ok"] else 1


def examine() -> dict[str, Any]:
    """Versions, devices and what the attention backends do here; each entry was tried, not looked up."""
    import torch

    values: dict[str, Any] = {"python": platform.python_version(), "torch": torch.__version__}
    for name in ("transformers", "safetensors", "pydantic", "tqdm", "tensorboard", "matplotlib"):
        try:
            values[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            values[name] = "missing"
    values["cuda"] = torch.cuda.device_count() if torch.cuda.is_available() else 0
    values["threads"] = torch.get_num_threads()
    for backend in ("sdpa", "flex"):
        values[f"attention {backend}"] = _try(backend)
    needed = [values[k] for k in ("transformers", "safetensors", "pydantic", "tqdm")]
    values["ok"] = "missing" not in needed and values["attention sdpa"] == "ok"
    return values


def _try(backend: str) -> str:
    """Forward and backward of a small drafter, against plain attention."""
    import torch

    from dflash import attention
    from dflash.masks import Layout
    from dflash.model import Drafter, DrafterConfig

    config = DrafterConfig(
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        vocab_size=8,
        block_size=4,
        mask_token_id=7,
        target_layer_ids=(1,),
        num_target_layers=4,
    )
    g = torch.Generator().manual_seed(0)
    drafter = Drafter(config).initialize(g)
    places = torch.arange(12)[None]
    layout = Layout(torch.tensor([[3, 7]]), torch.tensor([[True, True]]), torch.zeros_like(places), places, 4)
    block, features = torch.randn(1, 8, 32, generator=g), torch.randn(1, 12, 32, generator=g)
    found: list[torch.Tensor] = []
    try:
        for name in ("sdpa", backend):
            attend = attention.build(name, config, layout)
            drafter.zero_grad()
            drafter(block, features, layout.query_positions(), places, attend).square().sum().backward()
            assert drafter.fc.weight.grad is not None
            found.append(drafter.fc.weight.grad.clone())
    except Exception as error:
        return f"fails here ({type(error).__name__}: {str(error).splitlines()[0][:80]})"
    reference, ours = found
    return "ok" if torch.allclose(ours, reference, atol=1e-4, rtol=1e-3) else "gives other gradients than sdpa"
