"""Learning-rate factors over a run."""

from __future__ import annotations

import math


def factor(schedule: str, step: int, steps: int, warmup_ratio: float, decay_ratio: float = 0.2) -> float:
    """Share of the peak rate for `step` in 0..steps-1.

    Linear warm-up, then `cosine` to zero, `wsd` (stable, then linear to zero over the last `decay_ratio`;
    arXiv 2404.06395), or `constant`. Raises ValueError for other names.
    """
    warmup = round(steps * warmup_ratio)
    if step < warmup:
        return (step + 1) / warmup
    if schedule == "constant":
        return 1.0
    if schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))
    if schedule == "wsd":
        decay = max(1, round(steps * decay_ratio))
        return min(1.0, (steps - step) / decay)
    raise ValueError(f"schedule {schedule!r} is unknown (use cosine, wsd or constant)")
