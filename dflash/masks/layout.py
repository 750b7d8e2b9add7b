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
