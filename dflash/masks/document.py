"""The target's rule over packed rows: earlier tokens of the same document."""

from __future__ import annotations

from torch import Tensor

from dflash.masks.layout import MaskMod


def causal_in_document(documents: Tensor) -> MaskMod:
    """`documents [R, S]` ids; padding (-1) sees itself, so that no softmax is empty."""

    def mask_mod(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key <= query) & (documents[row, query] == documents[row, key])

    mask_mod.__name__ = "causal_in_document"
    return mask_mod
