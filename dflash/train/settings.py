"""What a trainer is told, apart from its models and data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Meaning and ranges as in `dflash.config.TrainSection` and `OutputSection`."""

    steps: int
    lr: float = 6e-4
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.0
    clip: float = 1.0
    accumulation: int = 1
    schedule: str = "cosine"
    warmup_ratio: float = 0.04
    decay_ratio: float = 0.2
    anchors: int = 512
    attention: str = "auto"
    precision: str = "float32"
    checkpointing: str = "none"
    ema: float | None = None
    seed: int = 0
    log_every: int = 10
    checkpoint_every: int | None = 200
    keep: int = 2
    validate_every: int | None = None
    tensorboard: bool = False
