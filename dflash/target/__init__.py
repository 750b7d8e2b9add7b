"""The frozen language model that the drafter serves."""

from __future__ import annotations

from pathlib import Path

import torch

from dflash.target.base import Cache, Target, TargetOutput
from dflash.target.tiny import TinyConfig, TinyTarget


def load(path: str | Path, dtype: str = "auto", device: str = "cpu", gguf_file: str | None = None) -> Target:
    """Load a Hugging Face causal language model from disk or hub; see `dflash.target.huggingface`."""
    from dflash.target.huggingface import HuggingFaceTarget  # transformers is an optional extra

    return HuggingFaceTarget.load(path, dtype, torch.device(device), gguf_file)


__all__ = ["Cache", "Target", "TargetOutput", "TinyConfig", "TinyTarget", "load"]
