"""Who may see whom: one rule per file, each a `mask_mod(row, head, query, key)` as flex attention takes it.

Keys are numbered as the drafter sees them: 0..S-1 the context, S..S+A*B-1 the blocks. The same rule makes
the dense mask (`dense`), the flex block mask (`flex`) and the drawing (`draw`).
"""

from dflash.masks.context import features_before_anchor
from dflash.masks.dense import dense
from dflash.masks.document import causal_in_document
from dflash.masks.drafter import drafter_mask
from dflash.masks.draw import draw
from dflash.masks.flex import flex
from dflash.masks.layout import Layout, MaskMod
from dflash.masks.own_block import own_block
from dflash.masks.sliding import within_window

__all__ = [
    "Layout",
    "MaskMod",
    "causal_in_document",
    "dense",
    "drafter_mask",
    "draw",
    "features_before_anchor",
    "flex",
    "own_block",
    "within_window",
]
