"""The trainer as one of several processes that `torchrun` started, one device each."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from dflash.errors import UserError
from dflash.loss import BlockStatistics
from dflash.train.log import Log
from dflash.train.plan import Plan
from dflash.train.step import Prepared, features_of, loss_of
from dflash.train.trainer import Trainer

_HOW = 'start it with: torchrun --nproc-per-node N -m dflash.cli train run.toml --set pipeline.mode="processes"'


def place() -> tuple[int, int, int]:
    """(rank, number of ranks, rank on this machine), as torchrun says; raises UserError without it."""
    try:
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_RANK"])
    except (KeyError, ValueError):
        raise UserError(f"pipeline.mode processes: this process is no rank of torchrun; {_HOW}") from None


def device_of(name: str, local_rank: int) -> str:
    """The rank's own device: `cuda` becomes `cuda:LOCAL_RANK`, `cpu` stays; raises UserError for `cuda:N`."""
    if name.startswith("cuda:"):
        raise UserError(f'target.device "{name}": in pipeline.mode processes write "cuda"; each rank takes its own')
    return f"cuda:{local_rank}" if name == "cuda" else name


def restarted() -> bool:
    """Whether torchrun started this process again after a rank was lost."""
    return os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"


@contextlib.contextmanager
def connected(device: torch.device) -> Iterator[None]:
    """The process group of all ranks: nccl between GPUs, gloo between CPUs."""
    place()
    if device.type == "cuda":
        torch.cuda.set_device(device)
    store, rank, world = next(dist.rendezvous("env://"))
    # torchrun keeps one store for all its restarts: addresses of the ranks that are gone are still in it, and the new
    # ones would wait for those.
    store = dist.PrefixStore(f"start {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=world)
    try:
        yield
    finally:
        dist.destroy_process_group()


@contextlib.contextmanager
def first_rank_first() -> Iterator[None]:
    """Rank 0 goes through alone, then all others: for files that the first makes and the others find."""
    leads = place()[0] == 0
    if not leads:
        dist.barrier()
    yield
    if leads:
        dist.barrier()


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


def _is_loss(error: RuntimeError) -> bool:
    """Gloo says it with a plain RuntimeError."""
    kinds = (dist.DistBackendError, dist.DistNetworkError)
    words = ("Connection closed by peer", "Connection reset by peer", "Broken pipe", "Read error")
    return isinstance(error, kinds) or any(word in str(error) for word in words)


class ProcessTrainer(Trainer):
    """`Trainer` whose ranks share a step's micro-batches; rank 0 logs, validates and saves.

    Every rank plans the whole step, so all agree on denominator and skipped micro-batches without asking.
    Micro-batch j is rank j mod N's. Make it inside `connected`. Raises UserError where ranks would idle.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.rank, self.ranks, _ = place()
        if self.settings.accumulation < self.ranks:
            raise UserError(
                f"train.accumulation {self.settings.accumulation}: {self.ranks} ranks need at least "
                f"{self.ranks} micro-batches a step; raise it, or start fewer ranks"
            )
        self.shared = DistributedDataParallel(self.drafter, broadcast_buffers=False)
        # DDP looks at annotations, which are text here: a lambda has none.
        self.shared.register_comm_hook(None, lambda state, bucket: total(bucket))

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def open_log(self) -> Log:
        return super().open_log() if self.leads else Silent()

    def save(self, keep: int | None = None) -> Path:
        return super().save(keep) if self.leads else self.checkpoints

    def validate(self, log: Log, report: Callable[[dict[str, Any]], None]) -> None:
        if self.leads:
            super().validate(log, report)

    def run(
        self, until: int | None = None, report: Callable[[dict[str, Any]], None] = lambda entry: None
    ) -> None:
        """As `Trainer.run`; raises UserError where another rank was lost."""
        try:
            super().run(until, report)
        except RuntimeError as error:
            if not _is_loss(error):
                raise
            raise UserError(
                f"rank {self.rank}, step {self.step + 1}: another rank was lost ({str(error).splitlines()[0][:120]}); "
                "torchrun --max-restarts goes on from the newest checkpoint, as does --resume"
            ) from error

    def gradients(self, plan: Plan) -> tuple[float, BlockStatistics]:
        mine = list(range(self.rank, len(plan.micro), self.ranks))
        rows = []
        for i in mine or [0]:  # a rank without a micro-batch takes part in the sum with zeros
            last = not mine or i == mine[-1]
            with contextlib.nullcontext() if last else self.shared.no_sync():
                part, counted = self._loss(plan.micro[i], plan.denominator)
                (part if mine else part * 0).backward()
            rows.append((float(part.detach()), counted))
        return self._gathered(rows if mine else [], plan)

    def _loss(self, planned: Prepared, denominator: float) -> tuple[Tensor, BlockStatistics]:
        prepared = planned.to(self._move)
        output = features_of(self.target, prepared.batch, self.drafter.config.target_layer_ids)
        forward: nn.Module = self.shared
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.settings.precision == "bfloat16"):
            return loss_of(
                self.drafter, self.target, prepared, output, self.objective, denominator, self.backend, forward
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
