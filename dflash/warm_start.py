"""Begin a drafter as a copy of its target's last layers instead of from noise.

The drafter ends where the target ends, in front of the same head, and its layers are of the same kind. The
copied layers already write what that head reads; what is left to learn is to work from masks and from features.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from dflash.model import Drafter


@torch.no_grad()
def warm_start(drafter: Drafter, target: Mapping[str, Tensor]) -> list[str]:
    """Copy what has the same shape from a target's `state_dict`; returns the names that were set.

    The fused features begin as the newest tapped layer's output alone, normed as the first copied layer norms.
    """
    c = drafter.config
    first = c.num_target_layers - c.num_hidden_layers
    found = []
    for name, own in drafter.named_parameters():
        source = f"model.{name}"
        if name.startswith("layers."):
            _, number, rest = name.split(".", 2)
            source = f"model.layers.{first + int(number)}.{rest}"
        elif name == "hidden_norm.weight":
            source = f"model.layers.{first}.input_layernorm.weight"
        theirs = target.get(source)
        if theirs is not None and theirs.shape == own.shape:
            own.copy_(theirs)
            found.append(name)
    if any(name.endswith("k_proj.weight") for name in found):
        drafter.fc.weight[:, -c.hidden_size :] += torch.eye(c.hidden_size, dtype=drafter.fc.weight.dtype)
        found.append("fc.weight")
    return found
