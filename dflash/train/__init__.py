"""Training on one device. What needs torch alone can be imported without the packages that checkpoints need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dflash.train.settings import Settings

if TYPE_CHECKING:
    from dflash.train.trainer import Trainer

__all__ = ["Settings", "Trainer"]


def __getattr__(name: str) -> Any:
    if name != "Trainer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dflash.train.trainer import Trainer

    return Trainer
