"""A target whose layers are spread over ranks; embedding, last norm and head stay whole on each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from dflash.pipeline import sharding
from dflash.pipeline.ranks import in_turn
from dflash.target.huggingface import HuggingFaceTarget, body_of, layers_of, read_model


def load(path: str | Path, dtype: str, device: torch.device, gguf_file: str | None = None) -> HuggingFaceTarget:
    """As `HuggingFaceTarget.load`, by all ranks together, inside `connected`.

    The ranks of a machine read in turn, so its memory holds one whole model at a time. Raises UserError too for one
    rank, or a torch without `fully_shard`.
    """
    sharding.require("pipeline.target", dist.get_world_size())
    with in_turn():
        model = read_model(path, dtype, gguf_file)
        spread(model, device, str(path))
    return HuggingFaceTarget(model, str(path), sharded=True)


def spread(model: Any, device: torch.device, name: str) -> None:
    """Shard the layers of a model that is whole in the CPU's memory, and bring the rest to `device`."""
    model.requires_grad_(False).eval()
    body = body_of(model)
    layers = layers_of(body, int(model.config.get_text_config().num_hidden_layers), name)
    sharding.shard_frozen(body, list(layers), device)
    for parameter in model.parameters():
        if parameter.device != device:  # in place, so that tied weights stay one
            parameter.data = parameter.data.to(device)
    for module in model.modules():
        for key, buffer in module.named_buffers(recurse=False):
            module._buffers[key] = buffer.to(device)
