"""The trainer of processes for a drafter that doesn't fit one device: each rank keeps its share of all state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from dflash.model import Drafter
from dflash.pipeline import sharding
from dflash.pipeline.processes import ProcessTrainer
from dflash.train import checkpoint
from dflash.train.shards import whole


class ShardedTrainer(ProcessTrainer):
    """`ProcessTrainer` with weights, gradients, moments and averaged weights sharded over ranks (FSDP2).

    Each micro-batch's gradient is added up over ranks at once, so that none is ever whole for longer than its layer.
    What is saved, evaluated and exported is gathered: a checkpoint is that of any other trainer. Raises UserError
    for one rank, or a torch without `fully_shard`.
    """

    keeps_casts = False  # they would be of whole layers

    def distribute(self) -> None:
        sharding.require("pipeline.drafter", self.ranks)
        sharding.shard_drafter(self.drafter, self.device)

    def wrapped(self) -> nn.Module:
        return self.drafter

    def adding_up(self, last: bool) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def clip(self) -> float:
        return sharding.clip(self.drafter.parameters(), self.settings.clip, exact=self.device.type == "cpu")

    def save(self, keep: int | None = None) -> Path:
        """All ranks gather, tensor by tensor; rank 0 keeps them in its memory, not its device's, and writes."""

        def take(tensor: Tensor) -> Tensor:
            found = whole(tensor.detach())
            return found.cpu() if self.leads else torch.empty(0)

        tensors = checkpoint.collect(self.drafter, self.optimizer, self.ema, take)
        return self.write(tensors, keep) if self.leads else self.checkpoints

    @contextlib.contextmanager
    def averaged(self) -> Iterator[Drafter]:
        """A whole drafter on the rank's device where it is evaluated; elsewhere the sharded one, not to be run."""
        weights = self.ema.weights if self.ema else dict(self.drafter.named_parameters())
        made = None
        if self.evaluates:
            made = Drafter(self.drafter.config).to(self.device, self.drafter.fc.weight.dtype)
        own = dict(made.named_parameters()) if made is not None else {}
        with torch.no_grad():
            for name, tensor in weights.items():
                found = whole(tensor.detach())
                if name in own:
                    own[name].copy_(found)
        yield self.drafter if made is None else made
