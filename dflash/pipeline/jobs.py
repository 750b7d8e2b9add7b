"""What travels between the threads."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from dflash.loss import BlockStatistics
from dflash.target import TargetOutput
from dflash.train.step import Prepared


@dataclass(frozen=True)
class Job:
    """One micro-batch: `number` counts all of a run, `turn` those of its drafter worker."""

    number: int
    drafter: int
    turn: int
    step: int
    prepared: Prepared
    denominator: float


@dataclass(frozen=True)
class Features:
    """A job on its drafter's device, with what the target knows about it."""

    job: Job
    prepared: Prepared
    output: TargetOutput


@dataclass(frozen=True)
class Gradient:
    """A micro-batch's gradient, parameter by parameter (None where it has none), its loss and statistics."""

    job: Job
    tensors: list[Tensor | None]
    loss: float
    statistics: BlockStatistics
