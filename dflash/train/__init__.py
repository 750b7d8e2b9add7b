"""Training on one device."""

from dflash.train.settings import Settings
from dflash.train.trainer import Trainer

__all__ = ["Settings", "Trainer"]
