"""A rule as text, to be looked at."""

from __future__ import annotations

from dflash.masks.dense import dense
from dflash.masks.layout import MaskMod


def draw(mask_mod: MaskMod, queries: int, keys: int, row: int = 0, context: int | None = None) -> str:
    """One line per query, `#` for a key it sees; a bar after the first `context` keys."""
    lines = []
    for seen in dense(mask_mod, row + 1, queries, keys)[row, 0].tolist():
        cells = ["#" if x else "." for x in seen]
        lines.append("".join(cells if context is None else [*cells[:context], "|", *cells[context:]]))
    return "\n".join(lines)
