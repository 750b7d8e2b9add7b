"""One step of a configured training, thrown away: what it needs and whether it runs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import nn

from dflash import build
from dflash.config import Config, PipelineSection
from dflash.errors import UserError
from dflash.pipeline import memory, sharding
from dflash.pipeline.processes import check_accumulation
from dflash.target import Target


def dry_run(config: Config, say: Callable[[str], None], ranks: int | None = None) -> dict[str, Any]:
    """Estimate of memory by device, then one step. Nothing is written outside a temporary folder.

    Raises UserError for whatever `dflash train` would refuse or fail by. In `pipeline.mode` processes it is the step
    of one device: the ranks are torchrun's to start. What is sharded over `ranks` is estimated only.
    """
    shards = [k for k in ("drafter", "target") if getattr(config.pipeline, k) == "sharded"]
    _check_ranks(config, shards, ranks)
    with tempfile.TemporaryDirectory(prefix="dflash-") as folder:
        alone = _thrown_away(config, Path(folder), bool(shards))
        made = build.training(alone, say)
        values: dict[str, Any] = {"memory": estimate(config, made, ranks or 1), "mode": config.pipeline.mode}
        if config.pipeline.mode == "threads":
            how = build.pipeline_settings(config)
            values["targets"], values["drafters"] = list(how.targets), list(how.drafters)
        if shards:
            values["first step"] = "not run: it takes all ranks; try torchrun … dflash train with --set train.steps=1"
            return values
        entries: list[dict[str, Any]] = []
        began = time.perf_counter()
        made.trainer.run(until=1, report=entries.append)
        values["seconds of the first step"] = round(time.perf_counter() - began, 2)
        values["loss"] = entries[-1]["loss"]
        return values


def _check_ranks(config: Config, shards: list[str], ranks: int | None) -> None:
    if config.pipeline.mode != "processes":
        if ranks is not None:
            raise UserError(f'--ranks is for pipeline.mode = "processes"; the mode is "{config.pipeline.mode}"')
        return
    for key in shards:
        if ranks is None:
            raise UserError(f"pipeline.{key} sharded: say over how many ranks with --ranks N")
        sharding.require(f"pipeline.{key}", ranks)
    if ranks is not None:
        check_accumulation(config.train.accumulation, ranks)


def _thrown_away(config: Config, folder: Path, sharded: bool) -> Config:
    output = config.output.model_copy(
        update={"directory": str(folder), "log_every": 1, "validate_every": None, "tensorboard": False}
    )
    changes: dict[str, Any] = {"output": output}
    if config.pipeline.mode == "processes":
        changes["pipeline"] = PipelineSection()
    if sharded:  # it may fit no device
        changes["target"] = config.target.model_copy(update={"device": "cpu"})
    changes["features"] = config.features.model_copy(update={"mode": "online"})  # a cache would read all data
    return config.model_copy(update=changes)


def estimate(config: Config, made: build.Run, ranks: int = 1) -> dict[str, dict[str, int]]:
    """Bytes by device and purpose."""
    d, t, p = config.data, config.train, config.pipeline
    targets: tuple[str, ...] = (config.target.device,)
    drafters = targets
    depth = 1
    if p.mode == "threads":
        how = build.pipeline_settings(config)
        targets, drafters, depth = how.targets, how.drafters, how.depth
    load = memory.Load(
        d.rows, d.length, t.anchors, made.target.dtype.itemsize, config.loss.kl > 0, t.ema is not None,
        t.precision == "bfloat16", t.checkpointing != "none", depth,
    )  # fmt: skip
    size = _bytes_of(made.target)
    if p.mode == "processes":
        shards = (p.drafter == "sharded", p.target == "sharded")
        found = memory.estimate_rank(made.trainer.drafter, size, load, ranks, *shards)
        return {f"each rank ({config.target.device})": found}
    return memory.estimate(made.trainer.drafter, size.all, load, config.target.device, targets, drafters)


def _bytes_of(target: Target) -> memory.TargetBytes:
    model = target if isinstance(target, nn.Module) else getattr(target, "model", None)
    if not isinstance(model, nn.Module):
        return memory.TargetBytes(0)
    layers = [_bytes(layer) for layer in getattr(target, "layers", ())]
    return memory.TargetBytes(_bytes(model), sum(layers), max(layers, default=0))


def _bytes(module: nn.Module) -> int:
    return sum(p.numel() * p.element_size() for p in module.parameters())
