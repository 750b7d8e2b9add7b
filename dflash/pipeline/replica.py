"""The drafter on one worker's device."""

from __future__ import annotations

import torch
from torch import Tensor

from dflash.model import Drafter
from dflash.target.base import twin
from dflash.train import checkpointing


class Replica:
    """A drafter with gradients of its own. On the master's device its weights are the master's memory.

    `pull` copies the master's weights; call it once a step, between two optimizer steps.
    """

    def __init__(self, master: Drafter, device: torch.device, checkpoints: str) -> None:
        self.drafter = twin(master, device)
        self.drafter.train()
        if checkpoints != "none":  # the copy took the master's wrapped layers, which run the master's
            checkpointing.remove(self.drafter)
            checkpointing.apply(self.drafter, checkpoints == "reentrant")
        self.pairs = [
            (own, theirs)
            for own, theirs in zip(self.drafter.parameters(), master.parameters(), strict=True)
            if own.data_ptr() != theirs.data_ptr()
        ]

    @torch.no_grad()
    def pull(self) -> None:
        for own, theirs in self.pairs:
            own.copy_(theirs, non_blocking=True)

    def give(self) -> list[Tensor | None]:
        """The gradients, which are no longer the replica's."""
        given = [p.grad for p in self.drafter.parameters()]
        self.drafter.zero_grad(set_to_none=True)
        return given
