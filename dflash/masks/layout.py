"""Where the blocks of a batch lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Layout:
    """A fixed number of blocks per row over packed context rows.

    `anchors [R, A]` index of each block's anchor in its row, `valid [R, A]` false for slots left over,
    `documents [R, S]` id of the document a token belongs to (-1 padding), `positions [R, S]` its place in
    that document.
    """

    anchors: Tensor
    valid: Tensor
    documents: Tensor
    positions: Tensor
    block_size: int

    @property
    def context_length(self) -> int:
        """S"""
        return self.documents.shape[1]

    @property
    def queries(self) -> int:
        """Q = A*B"""
        return self.anchors.shape[1] * self.block_size

    @property
    def keys(self) -> int:
        """S + Q"""
        return self.context_length + self.queries

    def parts(self, blocks: int, trim: bool = True) -> list[Layout]:
        """The same rows with `blocks` blocks at a time, each part with its own blocks as its only ones.

        With `trim` a part keeps the context up to its last anchor, which is all that it may see; without, parts
        have one shape.
        """
        found = []
        for first in range(0, self.anchors.shape[1], blocks):
            part = slice(first, first + blocks)
            anchors = self.anchors[:, part]
            reach = int(anchors.max()) + 1 if trim else self.context_length
            documents, positions = self.documents[:, :reach], self.positions[:, :reach]
            found.append(Layout(anchors, self.valid[:, part], documents, positions, self.block_size))
        return found

    def anchor_positions(self) -> Tensor:
        """Place of each anchor in its document, `[R, A]`."""
        return self.positions.gather(1, self.anchors)

    def query_positions(self) -> Tensor:
        """Place of each block token in its document, `[R, Q]`."""
        offsets = torch.arange(self.block_size, device=self.anchors.device)
        return (self.anchor_positions()[:, :, None] + offsets).flatten(1)

    def key_positions(self) -> Tensor:
        """Place of every key in its document, `[R, S+Q]`."""
        return torch.cat((self.positions, self.query_positions()), dim=1)
