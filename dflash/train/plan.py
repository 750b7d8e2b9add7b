"""What one step trains on, drawn ahead of the step and the same wherever the step is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch

from dflash.data.batches import Batch
from dflash.loss import Objective
from dflash.model import DrafterConfig
from dflash.train.settings import Settings
from dflash.train.step import Prepared, prepare


class Source(Protocol):
    """Batches that can say where they are."""

    def __next__(self) -> Batch: ...

    def state(self) -> dict[str, Any]: ...

    def restore(self, state: dict[str, Any]) -> None: ...

    def progress(self) -> float: ...


@dataclass(frozen=True)
class Plan:
    """Step `step` (from 0): its micro-batches that have an anchor, on the CPU, and the source's place after it.

    denominator  what every micro-batch's loss is divided by; known before any forward pass
    skipped      micro-batches without a single anchor
    data         state of the source after the step; what a checkpoint of the step has to keep
    """

    step: int
    micro: tuple[Prepared, ...]
    denominator: float
    skipped: int
    data: dict[str, Any]
    epoch: float


def draw(source: Source, config: DrafterConfig, settings: Settings, objective: Objective, step: int) -> Plan:
    """Take `settings.accumulation` batches from `source` and choose their blocks.

    Anchors come from a generator seeded by (seed, step, micro-batch): a plan depends on nothing else but the
    source's place.
    """
    micro, skipped = [], 0
    for i in range(settings.accumulation):
        g = torch.Generator().manual_seed((settings.seed * 1_000_003 + step) * 4_099 + i)
        prepared = prepare(next(source), config, settings.anchors, g)
        if bool(prepared.present.any()):
            micro.append(prepared)
        else:
            skipped += 1
    denominator = sum(objective.denominator(p.present) for p in micro)
    return Plan(step, tuple(micro), denominator, skipped, source.state(), source.progress())
