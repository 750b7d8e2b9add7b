"""The drafter: a few Qwen3-style layers that denoise a block of tokens in one pass (arXiv 2602.06036, 3-4).

Shape names: R rows of a batch, S context tokens, A blocks per row, B tokens per block, Q = A*B queries,
D hidden size, n tapped target layers, H query heads, K key/value heads, d head size.

The context is what the frozen target knew: the outputs of n of its layers, fused once. It enters every layer
through keys and values only; queries, output projection and MLP see the block alone. How queries find
their keys (which backend, which mask) is the `attend` object's business, see `dflash.attention`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dflash import rope

FULL, SLIDING = "full_attention", "sliding_attention"
KeyValue = tuple[Tensor, Tensor]  # each [R, K, T, d]


@dataclass(frozen=True)
class DrafterConfig:
    """Sizes of a drafter and its tie to one target. Names follow the community's `config.json`.

    Raises ValueError where values contradict each other.
    """

    hidden_size: int  # D, equal to the target's
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int  # H
    num_key_value_heads: int  # K
    head_dim: int  # d
    vocab_size: int  # the target's
    block_size: int  # B, anchor included
    mask_token_id: int
    target_layer_ids: tuple[int, ...]  # i = output of target decoder layer i, never the last
    num_target_layers: int
    layer_types: tuple[str, ...] = ()  # empty: full attention everywhere
    sliding_window: int | None = None
    causal: bool | None = None  # inside a block; None: in sliding layers only, as the community's loader does
    rms_norm_eps: float = 1e-6
    rope_theta: float = 1_000_000.0
    rope_scaling: Mapping[str, Any] | None = None
    max_position_embeddings: int = 32768
    attention_bias: bool = False
    initializer_range: float = 0.02

    def __post_init__(self) -> None:
        object.__setattr__(self, "target_layer_ids", tuple(self.target_layer_ids))
        object.__setattr__(self, "layer_types", tuple(self.layer_types) or (FULL,) * self.num_hidden_layers)
        for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.num_attention_heads % self.num_key_value_heads:
            raise ValueError(
                f"num_attention_heads {self.num_attention_heads} is not a multiple of "
                f"num_key_value_heads {self.num_key_value_heads}"
            )
        if self.head_dim % 2:
            raise ValueError(f"head_dim must be even for rotary positions, not {self.head_dim}")
        if self.block_size < 2:
            raise ValueError(
                f"block_size must be at least 2 (an anchor and one draft), not {self.block_size}"
            )
        if not 0 <= self.mask_token_id < self.vocab_size:
            raise ValueError(
                f"mask_token_id {self.mask_token_id} is outside the vocabulary of {self.vocab_size}"
            )
        check_layer_ids(self.target_layer_ids, self.num_target_layers)
        if len(self.layer_types) != self.num_hidden_layers or set(self.layer_types) - {FULL, SLIDING}:
            raise ValueError(
                f"layer_types must name {FULL} or {SLIDING} for each of the {self.num_hidden_layers} layers"
            )
        if SLIDING in self.layer_types and (self.sliding_window or 0) < 1:
            raise ValueError(f"a {SLIDING} layer needs sliding_window of at least 1")
        rope.variant(self.rope_scaling)

    def is_causal(self, layer_type: str) -> bool:
        """Whether a block position sees only earlier ones of its block in layers of this type."""
        return layer_type == SLIDING if self.causal is None else self.causal

    def window(self, layer_type: str) -> int | None:
        """Sliding window in tokens, None for full attention."""
        return self.sliding_window if layer_type == SLIDING else None


def check_layer_ids(ids: Sequence[int], num_target_layers: int) -> None:
    """Raise ValueError unless ids ascend within 0..num_target_layers-2; the last layer is stored normed."""
    if not ids or list(ids) != sorted(set(ids)) or ids[0] < 0 or ids[-1] > num_target_layers - 2:
        raise ValueError(
            f"target_layer_ids {list(ids)} must ascend within 0..{num_target_layers - 2}: the target has "
            f"{num_target_layers} layers and its last cannot be tapped"
        )


def spread_layer_ids(num_target_layers: int, count: int) -> tuple[int, ...]:
    """`count` ids spread evenly from the second layer to the third-to-last, as in the paper (A.1)."""
    first, last = 1, num_target_layers - 3
    if count == 1:
        ids: tuple[int, ...] = (num_target_layers // 2,)
    else:
        ids = tuple(round(first + i * (last - first) / (count - 1)) for i in range(count))
    check_layer_ids(ids, num_target_layers)
    return ids


class Attend(Protocol):
    """Finds each query its keys: `q [R, H, Q, d]`, context and block keys/values `[R, K, S or Q, d]`."""

    def __call__(self, layer_type: str, q: Tensor, context: KeyValue, block: KeyValue) -> Tensor:
        """Attention output `[R, H, Q, d]`."""
        ...


class LayerSizes(Protocol):
    """What a layer needs to know of a configuration, which may be frozen."""

    @property
    def hidden_size(self) -> int: ...

    @property
    def intermediate_size(self) -> int: ...

    @property
    def num_attention_heads(self) -> int: ...

    @property
    def num_key_value_heads(self) -> int: ...

    @property
    def head_dim(self) -> int: ...

    @property
    def rms_norm_eps(self) -> float: ...

    @property
    def attention_bias(self) -> bool: ...


class RMSNorm(nn.Module):
    """Root-mean-square norm over the last dimension, computed in at least float32."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)


class MLP(nn.Module):
    """SwiGLU feed-forward layer."""

    def __init__(self, hidden: int, intermediate: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(hidden, intermediate, bias=False)
        self.up_proj = nn.Linear(hidden, intermediate, bias=False)
        self.down_proj = nn.Linear(intermediate, hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Attention(nn.Module):
    """Queries from the block; keys and values from [context ; block] through the same projections."""

    def __init__(self, c: LayerSizes, layer_type: str) -> None:
        super().__init__()
        self.head_dim = c.head_dim
        self.layer_type = layer_type
        self.q_proj = nn.Linear(c.hidden_size, c.num_attention_heads * c.head_dim, bias=c.attention_bias)
        self.k_proj = nn.Linear(c.hidden_size, c.num_key_value_heads * c.head_dim, bias=c.attention_bias)
        self.v_proj = nn.Linear(c.hidden_size, c.num_key_value_heads * c.head_dim, bias=c.attention_bias)
        self.o_proj = nn.Linear(c.num_attention_heads * c.head_dim, c.hidden_size, bias=c.attention_bias)
        self.q_norm = RMSNorm(c.head_dim, c.rms_norm_eps)
        self.k_norm = RMSNorm(c.head_dim, c.rms_norm_eps)

    def heads(self, x: Tensor) -> Tensor:
        """Split the last dimension into heads: `[R, T, heads*d]` to `[R, T, heads, d]`."""
        return x.unflatten(-1, (-1, self.head_dim))

    def keys_values(self, x: Tensor, cos: Tensor, sin: Tensor) -> KeyValue:
        """Keys (normed, turned to their positions) and values of states `[R, T, D]`; each `[R, K, T, d]`."""
        k = self.k_norm(self.heads(self.k_proj(x))).transpose(1, 2)
        v = self.heads(self.v_proj(x)).transpose(1, 2)
        return rope.rotate(k, cos, sin), v

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, context: KeyValue, attend: Attend) -> Tensor:
        q = rope.rotate(self.q_norm(self.heads(self.q_proj(x))).transpose(1, 2), cos, sin)  # [R, H, Q, d]
        out = attend(self.layer_type, q, context, self.keys_values(x, cos, sin))
        return self.o_proj(out.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Pre-norm attention and MLP over the block."""

    def __init__(self, c: LayerSizes, layer_type: str) -> None:
        super().__init__()
        self.self_attn = Attention(c, layer_type)
        self.mlp = MLP(c.hidden_size, c.intermediate_size)
        self.input_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)

    def forward(
        self, x: Tensor, fused: Tensor, block_rope: KeyValue, context_rope: KeyValue, attend: Attend
    ) -> Tensor:
        """One layer over block states `[R, Q, D]` with fused features `[R, S, D]` as context."""
        return self.step(x, block_rope, self.self_attn.keys_values(fused, *context_rope), attend)

    def step(self, x: Tensor, block_rope: KeyValue, context: KeyValue, attend: Attend) -> Tensor:
        """The same with the context's keys and values already computed."""
        x = x + self.self_attn(self.input_layernorm(x), *block_rope, context, attend)
        return x + self.mlp(self.post_attention_layernorm(x))


class Layers(nn.ModuleList):
    """A list of layers whose type is known."""

    def __iter__(self) -> Iterator[Layer]:
        return cast(Iterator[Layer], super().__iter__())


class Drafter(nn.Module):
    """Denoises blocks `[anchor, mask, mask, ...]`; embeds nothing and predicts nothing by itself.

    The target's frozen embedding makes the input, its frozen head reads the output. Parameter names are
    those of the community's checkpoints.
    """

    steps: Tensor

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        c = self.config = config
        self.fc = nn.Linear(len(c.target_layer_ids) * c.hidden_size, c.hidden_size, bias=False)
        self.hidden_norm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.layers = Layers(Layer(c, kind) for kind in c.layer_types)
        self.norm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        steps, self.rope_factor = rope.frequencies(
            c.head_dim, c.rope_theta, c.rope_scaling, c.max_position_embeddings
        )
        self.register_buffer("steps", steps, persistent=False)

    def initialize(self, generator: torch.Generator | None = None) -> Drafter:
        """Draw the weights anew: normal with `initializer_range`, norms at one, biases at zero."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=self.config.initializer_range, generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, RMSNorm):
                nn.init.ones_(module.weight)
        return self

    def fuse(self, features: Tensor) -> Tensor:
        """Outputs of the n tapped layers side by side `[R, S, n*D]` to one context state `[R, S, D]`."""
        return self.hidden_norm(self.fc(features))

    def rope(self, positions: Tensor) -> KeyValue:
        """Cosine and sine tables `[R, 1, T, d]` (at least float32) of positions `[R, T]`."""
        return rope.tables(positions, self.steps, self.rope_factor, self.fc.weight.dtype)

    def forward(
        self,
        block: Tensor,
        features: Tensor,
        block_positions: Tensor,
        context_positions: Tensor,
        attend: Attend,
    ) -> Tensor:
        """Denoised block states `[R, Q, D]`, ready for the target's head.

        `block [R, Q, D]` embedded anchors and masks, `features [R, S, n*D]` of the target, positions `[R, Q]`
        and `[R, S]` in the real sequence.
        """
        fused = self.fuse(features)
        block_rope, context_rope = self.rope(block_positions), self.rope(context_positions)
        for layer in self.layers:
            # A view for each layer: gradients of `fused` are added up by layer first, as they are where layers are
            # sharded or recomputed, so that the sum is the same to the bit.
            block = layer(block, fused.view_as(fused), block_rope, context_rope, attend)
        return self.norm(block)

    def context(self, features: Tensor, positions: Tensor) -> list[KeyValue]:
        """Keys and values of every layer for features `[R, T, n*D]` at `positions [R, T]`, for decoding."""
        fused, tables = self.fuse(features), self.rope(positions)
        return [layer.self_attn.keys_values(fused, *tables) for layer in self.layers]

    def draft(self, block: Tensor, positions: Tensor, context: list[KeyValue], attend: Attend) -> Tensor:
        """`forward` with the context already turned to keys and values by `context`."""
        tables = self.rope(positions)
        for layer, keys_values in zip(self.layers, context, strict=True):
            block = layer.step(block, tables, keys_values, attend)
        return self.norm(block)
