"""What a threaded pipeline is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PipelineSettings:
    """Meaning and ranges as in `dflash.config.PipelineSection`.

    Raises ValueError for a device list that is empty or a number below 1.
    """

    targets: tuple[str, ...] = ("cpu",)  # one target worker each
    drafters: tuple[str, ...] = ("cpu",)  # one drafter worker each
    depth: int = 2  # steps planned ahead, and micro-batches that wait before each worker
    patience: float = 900.0  # seconds without a sign of life from a worker at work
    compile: str = "per_thread"  # or "shared": one compiled attention for all drafter workers
    fix: str = "auto"

    def __post_init__(self) -> None:
        if not self.drafters:
            raise ValueError("pipeline.drafters is empty: name at least one device")
        if not self.targets:
            raise ValueError("pipeline.targets is empty: name at least one device")
        if self.depth < 1 or self.patience <= 0:
            raise ValueError("pipeline.depth and pipeline.patience must be positive")
        if self.compile not in ("per_thread", "shared"):
            raise ValueError(f"pipeline.compile {self.compile!r} is unknown (use per_thread or shared)")
