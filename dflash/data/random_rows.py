"""Rows of random tokens without end, in place of texts: for measurements and scenarios."""

from __future__ import annotations

from typing import Any

import torch

from .batches import Batch


class RandomRows:
    """Row n is drawn by seed n from ``vocabulary`` ids, and has ``lengths[n % len(lengths)]`` of them; all of it is trained
    on. A batch is one row, shape [1, length]; the state is how many were given."""

    def __init__(self, vocabulary: int, *lengths: int) -> None:
        self.vocabulary, self.lengths = vocabulary, lengths
        self.given = 0

    def __next__(self) -> Batch:
        length = self.lengths[self.given % len(self.lengths)]
        g = torch.Generator().manual_seed(self.given)
        self.given += 1
        tokens = torch.randint(0, self.vocabulary, (1, length), generator=g)
        return Batch(tokens, torch.ones_like(tokens, dtype=torch.bool), torch.zeros_like(tokens))

    def state(self) -> dict[str, Any]:
        return {"given": self.given}

    def restore(self, state: dict[str, Any]) -> None:
        self.given = state["given"]

    def progress(self) -> float:
        return 0.0
