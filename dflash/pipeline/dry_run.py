"""One step of a configured training, thrown away: what it needs and whether it runs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import nn

from dflash import build
from dflash.config import Config
from dflash.pipeline import memory
from dflash.target import Target


def dry_run(config: Config, say: Callable[[str], None]) -> dict[str, Any]:
    """Estimate of memory by device, then one step. Nothing is written outside a temporary folder.

    Raises UserError for whatever `dflash train` would refuse or fail by. In `pipeline.mode` processes it is
    the step of one device: the ranks are torchrun's to start.
    """
    with tempfile.TemporaryDirectory(prefix="dflash-") as folder:
        config = _thrown_away(config, Path(folder))
        made = build.training(config, say)
        values: dict[str, Any] = {"memory": estimate(config, made), "mode": config.pipeline.mode}
        if config.pipeline.mode == "threads":
            how = build.pipeline_settings(config)
            values["targets"], values["drafters"] = list(how.targets), list(how.drafters)
        entries: list[dict[str, Any]] = []
        began = time.perf_counter()
        made.trainer.run(until=1, report=entries.append)
        values["seconds of the first step"] = round(time.perf_counter() - began, 2)
        values["loss"] = entries[-1]["loss"]
        return values


def _thrown_away(config: Config, folder: Path) -> Config:
    output = config.output.model_copy(
        update={"directory": str(folder), "log_every": 1, "validate_every": None, "tensorboard": False}
    )
    pipeline = config.pipeline
    if pipeline.mode == "processes":
        pipeline = pipeline.model_copy(update={"mode": "one"})
    features = config.features.model_copy(update={"mode": "online"})  # a cache would read all data
    return config.model_copy(update={"output": output, "pipeline": pipeline, "features": features})


def estimate(config: Config, made: build.Run) -> dict[str, dict[str, int]]:
    """Bytes by device and purpose."""
    d, t = config.data, config.train
    targets: tuple[str, ...] = (config.target.device,)
    drafters = targets
    depth = 1
    if config.pipeline.mode == "threads":
        how = build.pipeline_settings(config)
        targets, drafters, depth = how.targets, how.drafters, how.depth
    load = memory.Load(
        d.rows, d.length, t.anchors, made.target.dtype.itemsize, config.loss.kl > 0, t.ema is not None,
        t.precision == "bfloat16", t.checkpointing != "none", depth,
    )  # fmt: skip
    size = _bytes_of(made.target)
    return memory.estimate(made.trainer.drafter, size, load, config.target.device, targets, drafters)


def _bytes_of(target: Target) -> int:
    model = target if isinstance(target, nn.Module) else getattr(target, "model", None)
    if not isinstance(model, nn.Module):
        return 0
    return sum(p.numel() * p.element_size() for p in model.parameters())
