"""The target's features computed once and kept on disk: sharded safetensors, read row by row."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from dflash.data.batches import Batch, Batches
from dflash.errors import UserError
from dflash.target import Target


@dataclass(frozen=True)
class CacheKey:
    """What cached features depend on; a cache made under another key is refused."""

    target: str
    dtype: str
    layer_ids: tuple[int, ...]
    length: int
    pack: bool
    turns: str
    final: bool  # whether the target's final states are kept, for KL
    files: tuple[tuple[str, int], ...]  # name and size of each data file
    seed: int

    def entries(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))


def estimate(rows: int, length: int, target: Target, layers: int, final: bool) -> int:
    """Bytes that a cache of `rows` rows takes on disk."""
    per_token = target.hidden_size * (layers + final) * target.dtype.itemsize + 8 + 1 + 8
    return rows * length * per_token


def build(
    directory: Path,
    batches: Batches,
    target: Target,
    key: CacheKey,
    shard_rows: int,
    say: Callable[[str], None] = lambda line: None,
) -> int:
    """One epoch of `batches` through the target; returns the number of rows.

    The size is estimated from the number of tokens, said before anything is written, and held against the
    free space (UserError). The index is written last: a build that was cut short is begun anew.
    """
    index = directory / "index.json"
    if index.exists():
        found = json.loads(index.read_text())
        if found["key"] == key.entries():
            return int(found["rows"])
        changed = [k for k, v in key.entries().items() if found["key"].get(k) != v]
        raise UserError(
            f"{directory}: caches features of another {', '.join(changed)}: remove it or choose another"
        )
    beginning = batches.state()
    count = sum(batch.tokens.shape[0] for batch in _epoch(batches))
    batches.restore(beginning)
    size = estimate(count, key.length, target, len(key.layer_ids), key.final)
    directory.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(directory).free
    say(f"feature cache: {count} rows of {key.length} tokens, {size / 1e6:.0f} MB")
    if size > free:
        needs = f"the cache needs {size / 1e9:.1f} GB and {free / 1e9:.1f} GB are free"
        raise UserError(f"{directory}: {needs}: make room, or set features.mode to online")
    shards = 0
    rows = (row for batch in _epoch(batches) for row in _split(batch))
    while part := list(itertools.islice(rows, shard_rows)):
        tensors = {k: torch.stack([r[k] for r in part]) for k in part[0]}
        outputs = [
            target.read(
                tensors["tokens"][i : i + 8].to(target.device),
                key.layer_ids,
                tensors["documents"][i : i + 8].to(target.device),
            )
            for i in range(0, len(part), 8)
        ]
        tensors["features"] = torch.cat([o.features for o in outputs]).cpu()
        if key.final:
            tensors["final"] = torch.cat([o.final for o in outputs]).cpu()
        try:
            save_file(
                {k: v.contiguous() for k, v in tensors.items()}, directory / f"shard-{shards:05d}.safetensors"
            )
        except (OSError, SafetensorError) as error:
            raise UserError(f"{directory}: the feature cache can't be written ({error}): make room") from None
        shards += 1
    entries = {"key": key.entries(), "rows": count, "shard_rows": shard_rows, "shards": shards}
    index.write_text(json.dumps(entries, indent=2) + "\n")
    return count


def _epoch(batches: Batches) -> Iterator[Batch]:
    """All batches of one pass over the records."""
    while batches.epoch == 0:
        yield next(batches)


def _split(batch: Batch) -> list[dict[str, torch.Tensor]]:
    return [
        {"tokens": t, "loss_mask": m, "documents": d}
        for t, m, d in zip(batch.tokens, batch.loss_mask, batch.documents, strict=True)
    ]


class CachedBatches:
    """Endless shuffled batches of cached rows; the state is the place in the epoch's order."""

    def __init__(self, directory: Path, rows: int, seed: int = 0) -> None:
        try:
            entries = json.loads((directory / "index.json").read_text())
        except (OSError, ValueError):
            raise UserError(f"{directory}: no finished feature cache there") from None
        self.directory, self.batch_rows, self.seed = directory, rows, seed
        self.rows, self.shard_rows = int(entries["rows"]), int(entries["shard_rows"])
        self.shards = [
            safe_open(directory / f"shard-{i:05d}.safetensors", framework="pt")
            for i in range(entries["shards"])
        ]
        self.names = list(self.shards[0].keys())
        self.epoch = self.place = 0

    def state(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "place": self.place}

    def restore(self, state: dict[str, Any]) -> None:
        self.epoch, self.place = state["epoch"], state["place"]

    def progress(self) -> float:
        return self.epoch + self.place / self.rows

    def __iter__(self) -> CachedBatches:
        return self

    def __next__(self) -> Batch:
        rows: list[int] = []
        while len(rows) < self.batch_rows:
            g = torch.Generator().manual_seed(self.seed * 1_000_003 + self.epoch)
            order = torch.randperm(self.rows, generator=g)
            take = order[self.place : self.place + self.batch_rows - len(rows)].tolist()
            rows += take
            self.place += len(take)
            if self.place == self.rows:
                self.epoch, self.place = self.epoch + 1, 0
        return Batch(**{name: torch.cat([self._row(name, r) for r in rows]) for name in self.names})

    def _row(self, name: str, row: int) -> torch.Tensor:
        shard, at = divmod(row, self.shard_rows)
        return self.shards[shard].get_slice(name)[at : at + 1]
