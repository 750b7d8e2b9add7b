"""The training loop on one device."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from dflash.attention import default_backend
from dflash.errors import UserError
from dflash.loss import BlockStatistics, Objective
from dflash.model import Drafter
from dflash.target import Target
from dflash.train import checkpoint, checkpointing
from dflash.train.ema import Ema
from dflash.train.log import Log
from dflash.train.plan import Plan, Source, draw
from dflash.train.schedule import factor
from dflash.train.settings import Settings
from dflash.train.step import features_of, loss_of

Validation = Callable[[Drafter], dict[str, Any]]


class Trainer:
    """Trains `drafter` in place; `out` gets checkpoints and the log.

    Invariant: the state after step s is a function of the settings, the data and s alone. Anchors are drawn
    from a generator seeded by (seed, step, micro-batch), so nothing but weights, moments and the data's
    place has to be kept for a resumed run to be the same run.
    """

    def __init__(
        self,
        settings: Settings,
        drafter: Drafter,
        target: Target,
        batches: Source,
        objective: Objective,
        out: Path,
        *,
        config: dict[str, Any] | None = None,
        validation: Validation | None = None,
    ) -> None:
        self.settings, self.drafter, self.target, self.batches = settings, drafter, target, batches
        self.objective, self.out, self.config, self.validation = objective, out, config or {}, validation
        if drafter.fc.weight.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"master weights must be float32, not {drafter.fc.weight.dtype}")
        self.device = target.device
        self.backend = default_backend(self.device) if settings.attention == "auto" else settings.attention
        self.distribute()
        drafter.train()
        matrices = [p for p in drafter.parameters() if p.ndim > 1]
        vectors = [p for p in drafter.parameters() if p.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": vectors, "weight_decay": 0.0},  # norms and biases
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=settings.lr, betas=settings.betas)
        self.ema = Ema(drafter, settings.ema) if settings.ema else None
        self.step = 0
        self.skipped = 0  # micro-batches without a single anchor
        self.place = batches.state()  # of the source after the last step; it may have been read ahead
        self.epoch = batches.progress()
        if settings.checkpointing != "none":
            checkpointing.apply(drafter, settings.checkpointing == "reentrant")

    @property
    def checkpoints(self) -> Path:
        return self.out / "checkpoints"

    @property
    def leads(self) -> bool:
        """Whether this trainer writes the results; of several processes, one does."""
        return True

    @property
    def evaluates(self) -> bool:
        """Whether this trainer takes part in validation."""
        return True

    def distribute(self) -> None:
        """Bring the drafter where it is trained, before optimizer and average are made from its parameters."""
        self.drafter.to(self.device)

    def resume(self, path: Path | None = None) -> int:
        """Go on from a checkpoint (by default the newest); returns its step.

        Raises UserError where there is none or it doesn't fit.
        """
        found = checkpoint.find(self.checkpoints)
        if path is None and not found:
            raise UserError(f"{self.checkpoints}: no checkpoint to resume from")
        state = checkpoint.restore(path or found[-1], self.drafter, self.optimizer, self.ema)
        self.step, self.skipped = state["step"], state["skipped"]
        self.batches.restore(state["data"])
        self.place, self.epoch = state["data"], self.batches.progress()
        return self.step

    def save(self, keep: int | None = None) -> Path:
        """Write a checkpoint of the present state; of older ones, `keep` in all stay (None: as in the settings)."""
        return self.write(checkpoint.collect(self.drafter, self.optimizer, self.ema), keep)

    def write(self, tensors: checkpoint.Tensors, keep: int | None = None) -> Path:
        """As `save`, of tensors that were collected."""
        state = {"data": self.place, "skipped": self.skipped, "config": self.config}
        return checkpoint.save(
            self.checkpoints, self.step, self.drafter.config, tensors, state, keep or self.settings.keep
        )

    @contextlib.contextmanager
    def averaged(self) -> Iterator[Drafter]:
        """The drafter to evaluate and export, with the averaged weights where there are such."""
        with self.ema.swapped_in(self.drafter) if self.ema else contextlib.nullcontext():
            yield self.drafter

    def run(
        self, until: int | None = None, report: Callable[[dict[str, Any]], None] = lambda entry: None
    ) -> None:
        """Train to step `until` (by default the end), logging and saving; `report` gets the log's entries.

        Raises UserError on a loss that isn't finite (the newest checkpoint is of good steps) or a full disk.
        """
        s = self.settings
        end = min(until or s.steps, s.steps)
        with self.open_log() as log:
            began, tokens = time.perf_counter(), 0
            if self.step == 0 and s.validate_every and self.validation:
                self.validate(log, report)
            while self.step < end:
                entry, stats, count = self._one_step()
                tokens += count
                if self.step % s.log_every == 0 or self.step == s.steps:
                    seconds = time.perf_counter() - began
                    entry |= {
                        "accuracy": [round(a, 6) for a in stats.accuracy()],
                        "prefix": stats.prefix / max(1, stats.blocks),
                        "blocks": stats.blocks,
                        "epoch": self.epoch,
                        "skipped": self.skipped,
                        "tokens_per_second": tokens / seconds,
                    }
                    log.write(self.step, "train", **entry)
                    report({"step": self.step, "kind": "train", **entry})
                    began, tokens = time.perf_counter(), 0
                if s.validate_every and self.validation and self.step % s.validate_every == 0:
                    self.validate(log, report)
                    began, tokens = time.perf_counter(), 0
                if s.checkpoint_every and (self.step % s.checkpoint_every == 0 or self.step == s.steps):
                    self.save()

    def open_log(self) -> Log:
        return Log(self.out, self.settings.tensorboard, self.step if self.step else None)

    def validate(self, log: Log, report: Callable[[dict[str, Any]], None]) -> None:
        assert self.validation is not None
        with self.averaged() as drafter:
            if not self.evaluates:
                return
            values = self.validation(drafter)
        log.write(self.step, "validate", **values)
        report({"step": self.step, "kind": "validate", **values})

    def plan(self) -> Plan:
        """What the next step trains on."""
        return draw(self.batches, self.drafter.config, self.settings, self.objective, self.step)

    def _one_step(self) -> tuple[dict[str, Any], BlockStatistics, int]:
        s, plan = self.settings, self.plan()
        rate = s.lr * factor(s.schedule, self.step, s.steps, s.warmup_ratio, s.decay_ratio)
        stats = BlockStatistics.none(self.drafter.config.block_size - 1, self.device)
        loss, norm = 0.0, 0.0
        if plan.micro:
            loss, stats = self.gradients(plan)
            norm = self._apply(plan, loss, rate)
        self.step, self.skipped = self.step + 1, self.skipped + plan.skipped
        self.place, self.epoch = plan.data, plan.epoch
        count = sum(int((p.batch.documents >= 0).sum()) for p in plan.micro)
        return {"loss": loss, "lr": rate, "gradient_norm": norm}, stats, count

    def gradients(self, plan: Plan) -> tuple[float, BlockStatistics]:
        """Leave the gradient of the step's loss in the drafter; return the loss and its statistics."""
        loss = 0.0
        stats = BlockStatistics.none(self.drafter.config.block_size - 1, self.device)
        for planned in plan.micro:
            prepared = planned.to(self._move)
            output = features_of(self.target, prepared.batch, self.drafter.config.target_layer_ids)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.settings.precision == "bfloat16"):
                part, counted = loss_of(
                    self.drafter, self.target, prepared, output, self.objective, plan.denominator, self.backend
                )
            part.backward()
            loss += float(part.detach())
            stats = stats + counted
        return loss, stats

    def _move(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(self.device)

    def clip(self) -> float:
        """Shorten the gradient to the settings' norm; returns its norm before."""
        return float(torch.nn.utils.clip_grad_norm_(self.drafter.parameters(), self.settings.clip))

    def _apply(self, plan: Plan, loss: float, rate: float) -> float:
        """One optimizer step; returns the gradient's norm before clipping."""
        norm = self.clip()
        if not (math.isfinite(loss) and math.isfinite(norm)):
            self.optimizer.zero_grad(set_to_none=True)
            what = "loss" if not math.isfinite(loss) else "gradient"
            kept = checkpoint.find(self.checkpoints)
            good = f"the last good checkpoint is {kept[-1]}" if kept else "no checkpoint was written yet"
            raise UserError(
                f"step {self.step + 1} (epoch {plan.epoch:.3f}): the {what} is not finite; "
                f"{good}; lower train.lr, or look at the data there"
            )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if self.ema:
            self.ema.update(self.drafter, self.step)
        return norm
