"""What training and decoding ask of a target.

Shapes: R rows, T tokens, S cached slots, D hidden size, V vocabulary, n tapped layers.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn

Module = TypeVar("Module", bound=nn.Module)


@dataclass(frozen=True)
class TargetOutput:
    """`final [R, T, D]` states ready for the head; `features [R, T, n*D]` outputs of the tapped layers."""

    final: Tensor
    features: Tensor


class Cache(ABC):
    """Keys and values of what the target has read.

    Rows advance together but keep different numbers of tokens, so a slot can be a hole: `valid [R, S]`
    says which slots hold a token. `lengths [R]` counts them, which is the position of the next token.
    """

    def __init__(self, rows: int, device: torch.device) -> None:
        self.valid = torch.zeros(rows, 0, dtype=torch.bool, device=device)
        self.lengths = torch.zeros(rows, dtype=torch.long, device=device)
        self.fresh = 0  # slots added by the last advance, not yet judged by `keep`

    def add(self, real: Tensor) -> None:
        """Account for newly read tokens, `real [R, T]` false at padding."""
        if self.fresh:
            raise RuntimeError("keep() must judge the last tokens before more are read")
        self.valid = torch.cat((self.valid, real), dim=1)
        self.fresh = real.shape[1]

    def keep(self, counts: Tensor) -> None:
        """Of the tokens read last, keep the first `counts [R]` of each row; the rest were rejected."""
        start = self.valid.shape[1] - self.fresh
        place = torch.arange(self.fresh, device=self.valid.device)
        self.valid[:, start:] &= place < counts[:, None]
        self.lengths = self.lengths + self.valid[:, start:].sum(1)
        self.fresh = 0
        used = self.valid.any(0).nonzero()
        end = int(used[-1]) + 1 if used.numel() else 0
        if end < self.valid.shape[1]:
            self.crop(self.valid.shape[1] - end)
            self.valid = self.valid[:, :end]

    @abstractmethod
    def crop(self, count: int) -> None:
        """Drop the last `count` slots of keys and values."""


class Ends(Protocol):
    """The two ends of a target that a drafter borrows: embedding and head."""

    def embed(self, ids: Tensor) -> Tensor:
        """`[...]` to `[..., D]`."""
        ...

    def head(self, states: Tensor) -> Tensor:
        """`[..., D]` to logits `[..., V]`; differentiable in the states."""
        ...


class Target(ABC):
    """A frozen causal language model; nothing here ever requires a gradient of its weights."""

    hidden_size: int
    num_layers: int
    vocab_size: int
    dtype: torch.dtype
    device: torch.device
    sharded = False  # whether its layers are spread over ranks, which must then run it together

    @abstractmethod
    def embed(self, ids: Tensor) -> Tensor:
        """`[...]` to `[..., D]`."""

    @abstractmethod
    def head(self, states: Tensor) -> Tensor:
        """`[..., D]` to logits `[..., V]`; differentiable in the states."""

    @abstractmethod
    def replica(self, device: torch.device) -> Target:
        """Another target with the same weights, for another thread; on the same device in the same memory."""

    @abstractmethod
    def ends(self, device: torch.device) -> Ends:
        """Embedding and head alone, as modules of their own; on the same device in the same memory."""

    @abstractmethod
    def read(self, ids: Tensor, layer_ids: Sequence[int], documents: Tensor | None = None) -> TargetOutput:
        """Whole rows `[R, T]`, for training; packed rows say by `documents [R, T]` who belongs together."""

    @abstractmethod
    def start(self, rows: int) -> Cache:
        """An empty cache for `advance`."""

    @abstractmethod
    def advance(self, cache: Cache, ids: Tensor, real: Tensor, layer_ids: Sequence[int]) -> TargetOutput:
        """Read the next tokens `ids [R, T]`; `real [R, T]` is false at padding, which is on the right."""


def positions_in_documents(documents: Tensor) -> Tensor:
    """Place of each token in its document, `[R, T]`; documents are runs of equal ids."""
    index = torch.arange(documents.shape[1], device=documents.device).expand_as(documents)
    begins = torch.ones_like(documents, dtype=torch.bool)
    begins[:, 1:] = documents[:, 1:] != documents[:, :-1]
    return index - torch.where(begins, index, 0).cummax(dim=1).values


def twin(module: Module, device: torch.device) -> Module:
    """A module of the same weights on `device`; those that lie there already are shared, not copied.

    Not by `Module.to`, which from one GPU to another moves the shared parameters themselves.
    """
    memo: dict[int, Any] = {}
    for tensor in (*module.parameters(), *module.buffers()):
        there = tensor.detach().to(device)
        if isinstance(tensor, nn.Parameter):
            there = nn.Parameter(there, requires_grad=tensor.requires_grad)
        memo[id(tensor)] = there
    return copy.deepcopy(module, memo)
