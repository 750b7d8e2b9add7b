"""The trainer as one of several processes that `torchrun` started, one device each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from dflash.errors import UserError
from dflash.loss import BlockStatistics
from dflash.pipeline.ranks import place, told_of_loss
from dflash.train.log import Log
from dflash.train.plan import Plan
from dflash.train.step import Prepared, features_of, loss_of
from dflash.train.trainer import Trainer


def total(bucket: Any) -> torch.futures.Future[Tensor]:
    """DDP's buckets are added up, not averaged: the denominator of the loss is the whole step's already."""
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    assert work is not None
    return work.get_future().then(lambda done: done.value()[0])


class Silent(Log):
    """The log of a rank that doesn't keep one."""

    def __init__(self) -> None:
        pass

    def write(self, step: int, kind: str, **values: Any) -> None:
        pass

    def close(self) -> None:
        pass


def check_accumulation(accumulation: int, ranks: int) -> None:
    """Raise UserError where a rank would never get a micro-batch."""
    if accumulation < ranks:
        raise UserError(
            f"train.accumulation {accumulation}: {ranks} ranks need at least {ranks} micro-batches a step; "
            "raise it, or start fewer ranks"
        )


class ProcessTrainer(Trainer):
    """`Trainer` whose ranks share a step's micro-batches; rank 0 logs, validates and saves.

    Every rank plans the whole step, so all agree on denominator and skipped micro-batches without asking.
    Micro-batch j is rank j mod N's. Each rank has the whole drafter (DDP). Make it inside `connected`. Raises
    UserError where ranks would idle.
    """

    keeps_casts = True  # autocast may keep a weight's bfloat16 copy until the micro-batch's end

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.rank, self.ranks, _ = place()
        super().__init__(*arguments, **options)
        check_accumulation(self.settings.accumulation, self.ranks)
        self.shared: Any = self.wrapped()

    def wrapped(self) -> nn.Module:
        """What runs the drafter and adds up gradients over ranks."""
        shared = DistributedDataParallel(self.drafter, broadcast_buffers=False)
        # DDP looks at annotations, which are text here: a lambda has none.
        shared.register_comm_hook(None, lambda state, bucket: total(bucket))
        return shared

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def open_log(self) -> Log:
        return super().open_log() if self.leads else Silent()

    def save(self, keep: int | None = None) -> Path:
        return super().save(keep) if self.leads else self.checkpoints

    @property
    def evaluates(self) -> bool:
        """A target that is sharded runs on all ranks or on none."""
        return self.leads or self.target.sharded

    def run(
        self, until: int | None = None, report: Callable[[dict[str, Any]], None] = lambda entry: None
    ) -> None:
        """As `Trainer.run`; raises UserError where another rank was lost."""
        with told_of_loss(lambda: f"rank {self.rank}, step {self.step + 1}"):
            super().run(until, report)

    def gradients(self, plan: Plan) -> tuple[float, BlockStatistics]:
        rounds = -(-len(plan.micro) // self.ranks)
        rows = []
        for i in range(self.rank, rounds * self.ranks, self.ranks):
            # A rank for which nothing is left takes part with zeros: forwards and sums are all ranks' business.
            mine = i < len(plan.micro)
            with self.adding_up(i + self.ranks >= rounds * self.ranks):
                part, counted = self._loss(plan.micro[i if mine else 0], plan.denominator)
                (part if mine else part * 0).backward()
            if mine:
                rows.append((float(part.detach()), counted))
        return self._gathered(rows, plan)

    def adding_up(self, last: bool) -> contextlib.AbstractContextManager[Any]:
        """Around a micro-batch: DDP adds up over ranks once a step, after the last."""
        return contextlib.nullcontext() if last else self.shared.no_sync()

    def _loss(self, planned: Prepared, denominator: float) -> tuple[Tensor, BlockStatistics]:
        prepared = planned.to(self._move)
        output = features_of(self.target, prepared.batch, self.drafter.config.target_layer_ids)
        low = self.settings.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=low, cache_enabled=self.keeps_casts):
            return loss_of(
                self.drafter, self.target, prepared, output, self.objective, denominator, self.backend, self.shared
            )

    def _gathered(self, rows: list[tuple[float, BlockStatistics]], plan: Plan) -> tuple[float, BlockStatistics]:
        """All ranks' figures, added in the order of micro-batches as one device does."""
        slots = self.drafter.config.block_size - 1
        most = -(-len(plan.micro) // self.ranks)
        own = torch.zeros(most, 4 + 2 * slots, dtype=torch.float64, device=self.device)
        for i, (loss, c) in enumerate(rows):
            own[i, :4] = torch.tensor([loss, c.prefix, float(c.blocks), c.loss], dtype=torch.float64)
            own[i, 4:] = torch.cat((c.correct, c.present)).double()
        every = [torch.empty_like(own) for _ in range(self.ranks)]
        dist.all_gather(every, own)
        loss, stats = 0.0, BlockStatistics.none(slots, self.device)
        for j in range(len(plan.micro)):
            row = every[j % self.ranks][j // self.ranks]
            figures = row[:4].tolist()
            loss += figures[0]
            counts = row[4:].long()
            stats = stats + BlockStatistics(
                counts[:slots], counts[slots:], figures[1], int(figures[2]), figures[3]
            )
        return loss, stats
