"""Small random models for tests, made on the spot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from dflash.model import Drafter, DrafterConfig
from dflash.target import TinyConfig, TinyTarget


def tiny_target(
    seed: int = 0, dtype: torch.dtype = torch.float32, std: float = 0.3, **sizes: int
) -> TinyTarget:
    values: dict[str, int] = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 6, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 50, **sizes,
    }  # fmt: skip
    target = TinyTarget(TinyConfig(**values)).initialize(torch.Generator().manual_seed(seed), std)  # type: ignore[arg-type]
    return target.to(dtype).freeze()


def drafter_for(target: Any, seed: int = 0, dtype: torch.dtype = torch.float32, **changes: Any) -> Drafter:
    values: dict[str, Any] = {
        "hidden_size": target.hidden_size, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "vocab_size": target.vocab_size,
        "block_size": 4, "mask_token_id": target.vocab_size - 1, "target_layer_ids": (1, 3),
        "num_target_layers": target.num_layers, **changes,
    }  # fmt: skip
    config = DrafterConfig(**values)
    return Drafter(config).initialize(torch.Generator().manual_seed(seed)).to(dtype).eval()


def save_family(family: str, path: Path) -> Path:
    """A random checkpoint of a Hugging Face family, six layers, on disk."""
    import transformers

    torch.manual_seed(11)
    sizes: dict[str, Any] = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 6, "num_attention_heads": 4,
        "vocab_size": 50, "max_position_embeddings": 512, "initializer_range": 0.3,
        "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 0,
    }  # fmt: skip
    if family == "qwen3":
        config: Any = transformers.Qwen3Config(
            **sizes, num_key_value_heads=2, head_dim=8, tie_word_embeddings=True
        )
    elif family == "llama":
        config = transformers.LlamaConfig(**sizes, num_key_value_heads=2)
    elif family == "gpt_neox":
        config = transformers.GPTNeoXConfig(**sizes)
    elif family == "gemma2":  # caps its logits after the head
        config = transformers.Gemma2Config(
            **sizes, num_key_value_heads=2, head_dim=8, sliding_window=256, final_logit_softcapping=3.0
        )
    else:
        raise ValueError(family)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(path)
    return path
