"""Rotary position tables and the scaling variants that published checkpoints use.

Sources: RoFormer (arXiv 2104.09864), linear scaling, YaRN (arXiv 2309.00071) and the "llama3" rule of the
Llama 3.1 checkpoints. Names and keys follow the `rope_scaling` entry of a checkpoint's `config.json`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

VARIANTS = ("default", "linear", "llama3", "yarn")


def variant(scaling: Mapping[str, Any] | None) -> str:
    """Name of the scaling rule; raises ValueError for one that is not implemented."""
    name = "default" if not scaling else str(scaling.get("rope_type", scaling.get("type", "default")))
    if name not in VARIANTS:
        raise ValueError(f"rope_scaling type {name!r} is not supported (use one of {', '.join(VARIANTS)})")
    return name


def frequencies(
    head_dim: int, theta: float, scaling: Mapping[str, Any] | None = None, max_positions: int = 0
) -> tuple[Tensor, float]:
    """Angle per position of each rotary pair, float32 `[head_dim/2]`, and the factor on cosine and sine."""
    name = variant(scaling)
    steps = 1.0 / theta ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
    if name == "default" or scaling is None:
        return steps, 1.0
    try:
        if name == "linear":
            return steps / float(scaling["factor"]), 1.0
        if name == "llama3":
            return _llama3(steps, scaling), 1.0
        return _yarn(steps, head_dim, theta, scaling, max_positions)
    except KeyError as missing:
        raise ValueError(f"rope_scaling of type {name!r} lacks the key {missing}") from None


def _llama3(steps: Tensor, scaling: Mapping[str, Any]) -> Tensor:
    factor, low, high = (float(scaling[k]) for k in ("factor", "low_freq_factor", "high_freq_factor"))
    original = float(scaling["original_max_position_embeddings"])
    wavelength = 2 * math.pi / steps
    blend = ((original / wavelength - low) / (high - low)).clamp(0, 1)
    return (1 - blend) * steps / factor + blend * steps


def _yarn(
    steps: Tensor, head_dim: int, theta: float, scaling: Mapping[str, Any], max_positions: int
) -> tuple[Tensor, float]:
    factor = float(scaling["factor"])
    original = float(scaling.get("original_max_position_embeddings") or max_positions)
    if original <= 0:
        raise ValueError("rope_scaling of type 'yarn' needs original_max_position_embeddings")

    def pair_of(rotations: float) -> float:
        return head_dim * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(theta))

    low, high = pair_of(float(scaling.get("beta_fast") or 32)), pair_of(float(scaling.get("beta_slow") or 1))
    if scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    ramp = ((torch.arange(head_dim // 2, dtype=torch.float32) - low) / max(high - low, 1e-3)).clamp(0, 1)
    attention_factor = scaling.get("attention_factor")
    if attention_factor is None:
        if scaling.get("mscale") or scaling.get("mscale_all_dim"):
            raise ValueError("rope_scaling keys mscale and mscale_all_dim are not supported")
        attention_factor = 0.1 * math.log(factor) + 1.0 if factor > 1 else 1.0
    return steps / factor * ramp + steps * (1 - ramp), float(attention_factor)


def tables(positions: Tensor, steps: Tensor, factor: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosine and sine `[R, 1, T, d]` (at least float32) of positions `[R, T]`."""
    wide = torch.promote_types(dtype, torch.float32)
    angles = positions[:, None, :, None].to(torch.float32) * steps.to(torch.float32)
    angles = torch.cat((angles, angles), dim=-1)
    return (angles.cos() * factor).to(wide), (angles.sin() * factor).to(wide)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn `x` `[R, H, T, d]` by the tables `[R, 1, T, d]` (halves, not interleaved pairs)."""
    first, second = x.chunk(2, dim=-1)
    turned = torch.cat((-second, first), dim=-1)
    return x * cos.to(x.dtype) + turned * sin.to(x.dtype)
