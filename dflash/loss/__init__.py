"""What the drafter is trained on: per-slot losses, slot weights, and both in chunks of blocks."""

from dflash.loss.chunked import BlockStatistics, block_loss
from dflash.loss.objective import Objective
from dflash.loss.terms import cross_entropy, kl_to_target
from dflash.loss.weights import decay, dpace

__all__ = ["BlockStatistics", "Objective", "block_loss", "cross_entropy", "decay", "dpace", "kl_to_target"]
