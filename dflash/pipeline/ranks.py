"""The ranks that `torchrun` started: who this process is, and how they reach each other."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

import torch
import torch.distributed as dist

from dflash.errors import UserError

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
        with told_of_loss(lambda: f"rank {rank}"):
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


@contextlib.contextmanager
def in_turn() -> Iterator[None]:
    """The ranks of a machine go through one after the other; one that fails lets the others have their turn."""
    own, count = place()[2], int(os.environ.get("LOCAL_WORLD_SIZE", place()[1]))
    for _ in range(own):
        dist.barrier()
    try:
        yield
    finally:
        for _ in range(own, count):
            dist.barrier()


def is_loss(error: RuntimeError) -> bool:
    """Gloo says it with a plain RuntimeError."""
    kinds = (dist.DistBackendError, dist.DistNetworkError)
    words = ("Connection closed by peer", "Connection reset by peer", "Broken pipe", "Read error")
    return isinstance(error, kinds) or any(word in str(error) for word in words)


@contextlib.contextmanager
def told_of_loss(where: Callable[[], str]) -> Iterator[None]:
    """Raise UserError, beginning with `where`, for what is raised here because another rank is gone."""
    try:
        yield
    except RuntimeError as error:
        if not is_loss(error):
            raise
        raise UserError(
            f"{where()}: another rank was lost ({str(error).splitlines()[0][:120]}); "
            "torchrun --max-restarts goes on from the newest checkpoint, as does --resume"
        ) from error
