"""Shuffled, packed batches of fixed shape, from any point of which a run can go on exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dflash.anchors import eligible
from dflash.data.examples import Example
from dflash.data.records import Record, Records
from dflash.errors import UserError


@dataclass(frozen=True)
class Batch:
    """`tokens, loss_mask, documents [R, S]`; documents are numbered per row, -1 is padding.

    `features [R, S, n*D]` and `final [R, S, D]` come with batches read from a cache.
    """

    tokens: Tensor
    loss_mask: Tensor
    documents: Tensor
    features: Tensor | None = None
    final: Tensor | None = None

    def to(self, device: torch.device) -> Batch:
        return self.moved(lambda x: x.to(device))

    def moved(self, move: Callable[[Tensor], Tensor]) -> Batch:
        """Every tensor through `move`."""

        def there(x: Tensor | None) -> Tensor | None:
            return None if x is None else move(x)

        return Batch(
            move(self.tokens), move(self.loss_mask), move(self.documents), there(self.features), there(self.final)
        )


def row_of(pieces: list[Example], length: int) -> tuple[list[int], list[bool], list[int]]:
    """Tokens, loss mask and documents of one packed row."""
    tokens = [t for piece in pieces for t in piece.tokens]
    counts = [c for piece in pieces for c in piece.counts]
    documents = [i for i, piece in enumerate(pieces) for _ in piece.tokens]
    pad = length - len(tokens)
    return tokens + [0] * pad, counts + [False] * pad, documents + [-1] * pad


class Batches:
    """Endless batches of `[rows, length]`; `epoch` counts passes over the records.

    Each epoch visits the records in an order of its own, drawn from `seed`. With `pack`, a row takes
    examples until the next one doesn't fit. State is the place in that order and the pieces not yet emitted.
    """

    def __init__(
        self, records: Records, encode: Callable[[Record], Example], rows: int, length: int, *,
        pack: bool = True, seed: int = 0, skip_bad: bool = False, block_size: int = 2,
    ) -> None:  # fmt: skip
        self.records, self.encode = records, encode
        self.rows, self.length, self.pack = rows, length, pack
        self.seed, self.skip_bad, self.block_size = seed, skip_bad, block_size
        self.epoch, self.place = 0, 0  # next record is order[place]
        self.pending: list[Example] = []
        self.too_short = self.cut = self.bad = 0  # examples without an anchor, cut at length, refused
        self._order: Tensor | None = None
        self._useful = 0  # examples as long as a block, this epoch

    def state(self) -> dict[str, Any]:
        """Everything that the next batch depends on, as JSON."""
        return {
            "epoch": self.epoch, "place": self.place, "useful": self._useful,
            "too_short": self.too_short, "cut": self.cut, "bad": self.bad,
            "pending": [{"tokens": p.tokens, "counts": p.counts} for p in self.pending],
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        self.epoch, self.place, self._useful = state["epoch"], state["place"], state["useful"]
        self.too_short, self.cut, self.bad = state["too_short"], state["cut"], state["bad"]
        self.pending = [Example(p["tokens"], p["counts"]) for p in state["pending"]]
        self._order = None

    def progress(self) -> float:
        """Epochs done, with a fraction."""
        return self.epoch + self.place / len(self.records)

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        rows = [row_of(self._row(), self.length) for _ in range(self.rows)]
        tokens, counts, documents = zip(*rows, strict=True)
        return Batch(torch.tensor(tokens), torch.tensor(counts), torch.tensor(documents))

    def _row(self) -> list[Example]:
        row: list[Example] = []
        space = self.length
        while True:
            piece = self.pending.pop(0) if self.pending else None
            if piece is None:
                self.pending += self._next_pieces()
            elif len(piece.tokens) <= space:
                row.append(piece)
                space -= len(piece.tokens)
                if not self.pack or not space:
                    return row
            else:
                self.pending.insert(0, piece)
                return row

    def _next_pieces(self) -> list[Example]:
        if self._order is None:
            g = torch.Generator().manual_seed(self.seed * 1_000_003 + self.epoch)
            self._order = torch.randperm(len(self.records), generator=g)
        record = self.records[int(self._order[self.place])]
        self.place += 1
        found: list[Example] = []
        try:
            example = self.encode(record)
        except ValueError as error:
            if not self.skip_bad:
                raise UserError(
                    f"{self.records.paths[0]}: a record can't be used: {error} (--skip-bad skips it)"
                ) from None
            self.bad += 1
        else:
            split = all(example.counts)  # plain text goes on in the next piece; a chat is cut
            self.cut += len(example.tokens) > self.length and not split
            for piece in example.pieces(self.length, split):
                counts = torch.tensor([piece.counts])
                if bool(eligible(counts, torch.zeros_like(counts, dtype=torch.long)).any()):
                    found.append(piece)
                    self._useful += len(piece.tokens) >= self.block_size
                else:
                    self.too_short += 1
        if self.place == len(self.records):
            if not self._useful:
                raise UserError(
                    f"{self.records.paths[0]}: no text is as long as a block of {self.block_size} tokens "
                    "with something to train on: use longer texts or a smaller drafter.block_size"
                )
            self.epoch, self.place, self._useful, self._order = self.epoch + 1, 0, 0, None
        return found
