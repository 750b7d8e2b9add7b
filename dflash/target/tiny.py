"""A small Qwen3-style language model in torch alone, for the demonstration and for tests.

It is built from the drafter's own layers: a language model's keys are [cache ; new tokens] as the
drafter's are [context ; block]. Its parameters bear Hugging Face's names, so a checkpoint it saves loads
there as `Qwen3ForCausalLM`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from dflash import rope
from dflash.attention.dense import sdpa
from dflash.masks import causal_in_document, dense
from dflash.model import FULL, KeyValue, Layer, Layers, RMSNorm
from dflash.target.base import Cache, Target, TargetOutput, positions_in_documents, twin


@dataclass(frozen=True)
class TinyConfig:
    """Sizes; the default reads bytes, with 256 as end of text and 257 free as the drafter's mask."""

    hidden_size: int = 128
    intermediate_size: int = 384
    num_hidden_layers: int = 6
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 32
    vocab_size: int = 258
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    max_position_embeddings: int = 4096
    attention_bias: bool = False


class TinyCache(Cache):
    """Per layer `[R, K, S, d]`."""

    def __init__(self, rows: int, device: torch.device, layers: list[KeyValue]) -> None:
        super().__init__(rows, device)
        self.layers = layers

    def crop(self, count: int) -> None:
        self.layers = [(k[:, :, :-count], v[:, :, :-count]) for k, v in self.layers]


class TinyEnds:
    """Embedding and head without the layers between."""

    def __init__(self, embedding: nn.Embedding, head: nn.Linear) -> None:
        self.embedding, self.out = embedding, head

    def embed(self, ids: Tensor) -> Tensor:
        return self.embedding(ids)

    def head(self, states: Tensor) -> Tensor:
        return self.out(states.to(self.out.weight.dtype))


class _Body(nn.Module):
    """All but the head; a module of its own for the sake of the parameters' names."""

    def __init__(self, c: TinyConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = Layers(Layer(c, FULL) for _ in range(c.num_hidden_layers))
        self.norm = RMSNorm(c.hidden_size, c.rms_norm_eps)


class TinyTarget(nn.Module, Target):
    """Trainable until `freeze`; as a target always frozen."""

    steps: Tensor

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        c = self.config = config
        self.hidden_size, self.num_layers, self.vocab_size = c.hidden_size, c.num_hidden_layers, c.vocab_size
        self.model = _Body(c)
        self.lm_head = nn.Linear(c.hidden_size, c.vocab_size, bias=False)
        self.register_buffer("steps", rope.frequencies(c.head_dim, c.rope_theta)[0], persistent=False)

    @property
    def dtype(self) -> torch.dtype:  # type: ignore[override]
        return self.lm_head.weight.dtype

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self.lm_head.weight.device

    def initialize(self, generator: torch.Generator | None = None, std: float = 0.02) -> TinyTarget:
        """Draw the matrices from a normal distribution, norms at one."""
        for name, parameter in self.named_parameters():
            if name.endswith("norm.weight"):
                nn.init.ones_(parameter)
            else:
                nn.init.normal_(parameter, std=std, generator=generator)
        return self

    def freeze(self) -> TinyTarget:
        """No gradients from here on."""
        self.requires_grad_(False)
        return self.eval()

    def embed(self, ids: Tensor) -> Tensor:
        return self.model.embed_tokens(ids)

    def head(self, states: Tensor) -> Tensor:
        return self.lm_head(states.to(self.dtype))

    def replica(self, device: torch.device) -> TinyTarget:
        return twin(self, device)

    def ends(self, device: torch.device) -> TinyEnds:
        return TinyEnds(twin(self.model.embed_tokens, device), twin(self.lm_head, device))

    def _run(
        self, ids: Tensor, positions: Tensor, mask: Tensor, past: list[KeyValue], layer_ids: Sequence[int]
    ) -> tuple[TargetOutput, list[KeyValue]]:
        """`mask [R, 1, T, S+T]` over [past ; ids]."""
        x = self.embed(ids)
        tables = rope.tables(positions, self.steps, 1.0, self.dtype)
        seen: list[KeyValue] = []

        def attend(layer_type: str, q: Tensor, context: KeyValue, block: KeyValue) -> Tensor:
            seen.append((torch.cat((context[0], block[0]), 2), torch.cat((context[1], block[1]), 2)))
            return sdpa(q, *seen[-1], mask)

        taps = {}
        for i, (layer, keys_values) in enumerate(zip(self.model.layers, past, strict=True)):
            x = layer.step(x, tables, keys_values, attend)
            if i in layer_ids:
                taps[i] = x
        features = torch.cat([taps[i] for i in layer_ids], dim=-1) if layer_ids else x[..., :0]
        return TargetOutput(self.model.norm(x), features), seen

    def _empty(self, rows: int) -> list[KeyValue]:
        c = self.config
        none = torch.zeros(rows, c.num_key_value_heads, 0, c.head_dim, dtype=self.dtype, device=self.device)
        return [(none, none)] * c.num_hidden_layers

    def read(self, ids: Tensor, layer_ids: Sequence[int], documents: Tensor | None = None) -> TargetOutput:
        documents = torch.zeros_like(ids) if documents is None else documents
        mask = dense(causal_in_document(documents), ids.shape[0], ids.shape[1], ids.shape[1], ids.device)
        return self._run(ids, positions_in_documents(documents), mask, self._empty(ids.shape[0]), layer_ids)[
            0
        ]

    def start(self, rows: int) -> TinyCache:
        return TinyCache(rows, self.device, self._empty(rows))

    def advance(self, cache: Cache, ids: Tensor, real: Tensor, layer_ids: Sequence[int]) -> TargetOutput:
        assert isinstance(cache, TinyCache)
        tokens = torch.arange(ids.shape[1], device=ids.device)
        positions = cache.lengths[:, None] + tokens
        old = cache.valid[:, None, None, :].expand(-1, 1, ids.shape[1], -1)
        new = (tokens[:, None] >= tokens).expand(ids.shape[0], 1, -1, -1)
        output, cache.layers = self._run(ids, positions, torch.cat((old, new), -1), cache.layers, layer_ids)
        cache.add(real)
        return output

    def save(self, path: Path) -> None:
        """Write a Hugging Face checkpoint directory (`Qwen3ForCausalLM`)."""
        from safetensors.torch import save_file

        path.mkdir(parents=True, exist_ok=True)
        extra = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "tie_word_embeddings": False}
        dtype = str(self.dtype).removeprefix("torch.")
        entries = {**dataclasses.asdict(self.config), **extra, "dtype": dtype, "hidden_act": "silu"}
        (path / "config.json").write_text(json.dumps(entries, indent=2) + "\n")
        weights = {name: value.contiguous() for name, value in self.state_dict().items()}
        save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
