"""DFlash: train, run and export block-diffusion drafters for speculative decoding (arXiv 2602.06036)."""

from __future__ import annotations

from dflash.errors import UserError
from dflash.model import Drafter, DrafterConfig

__all__ = ["Drafter", "DrafterConfig", "UserError"]
