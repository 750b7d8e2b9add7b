"""The trainer with its gradients made by a pipeline of threads."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from dflash.attention import flex
from dflash.errors import UserError
from dflash.loss import BlockStatistics
from dflash.pipeline import fix
from dflash.pipeline.board import Stopped
from dflash.pipeline.interrupt import Interrupted, interruptible
from dflash.pipeline.settings import PipelineSettings
from dflash.pipeline.threads import Threads
from dflash.train import checkpoint
from dflash.train.plan import Plan, draw
from dflash.train.trainer import Trainer


class ThreadedTrainer(Trainer):
    """`Trainer` on several devices: the same steps, and on CPUs in float32 the same bits.

    Whatever ends a run early, a checkpoint of its last whole step is there, and the error says where. The
    target given is the coordinator's: it validates with it, workers have copies. Raises UserError where
    drafters would never get a micro-batch.
    """

    def __init__(self, *arguments: Any, pipeline: PipelineSettings, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pipeline = pipeline
        self.threads: Threads | None = None
        self.whole = True  # no optimizer step is half done
        count, micro = len(pipeline.drafters), self.settings.accumulation
        if micro < count:
            raise UserError(
                f"train.accumulation {micro}: {count} drafters need at least {count} micro-batches a step; "
                "raise it, or list fewer pipeline.drafters"
            )

    def run(
        self, until: int | None = None, report: Callable[[dict[str, Any]], None] = lambda entry: None
    ) -> None:
        """As `Trainer.run`. Raises UserError naming the worker that failed and why; Interrupted after Ctrl-C."""
        end = min(until or self.settings.steps, self.settings.steps)
        self.batches.restore(self.place)  # an earlier run may have read ahead
        with fix.apply(self.pipeline.fix):
            flex.forget()
            self.threads = None
            try:
                threads = self.threads = Threads(
                    self.pipeline, self.settings, self.drafter, self.target, self.objective, self._draw, self.step, end
                )
                with interruptible(threads.board):
                    threads.start()
                    super().run(until, report)
            except BaseException as error:
                left = self.threads.stop() if self.threads is not None else []
                raise self._told(error, left) from error
            finally:
                if self.threads is not None:
                    self.threads.stop()
                self.drafter.zero_grad(set_to_none=True)

    def _draw(self, step: int) -> Plan:
        return draw(self.batches, self.drafter.config, self.settings, self.objective, step)

    def plan(self) -> Plan:
        assert self.threads is not None
        return self.threads.plan()

    def gradients(self, plan: Plan) -> tuple[float, BlockStatistics]:
        assert self.threads is not None
        return self.threads.gradients(plan)

    def _apply(self, plan: Plan, loss: float, rate: float) -> float:
        self.whole = False
        try:
            norm = super()._apply(plan, loss, rate)
        except UserError:  # not finite: seen before anything was changed
            self.whole = True
            raise
        self.whole = True
        return norm

    def _told(self, error: BaseException, left: list[str]) -> BaseException:
        """The error to raise instead: the cause, its thread, and where to go on."""
        rescued = self._rescue()
        if isinstance(error, KeyboardInterrupt):
            return Interrupted(rescued)
        failure = self.threads.failure if self.threads is not None else None
        if isinstance(error, Stopped) and failure is not None:
            cause = failure.error
            where = f"{failure.who}, {failure.doing}: " if failure.doing != "waits" else f"{failure.who}: "
        else:
            cause, where = error, "coordinator: "
        words = str(cause) if isinstance(cause, UserError) else f"{type(cause).__name__}: {_root(cause)}"
        kept = self._keep_traceback(cause)
        hang = f"; {', '.join(left)} did not end" if left else ""
        return UserError(f"{where}{words}{hang}; {rescued}{kept}")

    def _rescue(self) -> str:
        """Leave a checkpoint of the last whole step beside those that are kept; words on where it is."""
        found = checkpoint.find(self.checkpoints)
        if found and checkpoint.read_state(found[-1])["step"] == self.step:
            return f"the checkpoint of step {self.step} is {found[-1]} (--resume)"
        sound = self.whole and all(math.isfinite(float(p.detach().sum())) for p in self.drafter.parameters())
        if not sound:
            return f"the last good checkpoint is {found[-1]} (--resume)" if found else "no checkpoint was written yet"
        try:
            return f"the checkpoint of step {self.step} is {self.save(self.settings.keep + 1)} (--resume)"
        except UserError as error:
            return str(error)

    def _keep_traceback(self, cause: BaseException) -> str:
        if isinstance(cause, UserError):
            return ""
        path = Path(self.out) / "failure.txt"
        try:
            path.write_text("".join(traceback.format_exception(cause)))
        except OSError:
            return ""
        return f"; traceback in {path}"


def _root(error: BaseException) -> str:
    """The first line of the exception that all began with."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = (str(error) or type(error).__name__).strip().splitlines()[0]
    if isinstance(error, torch.OutOfMemoryError):
        text += " (lower train.anchors, data.rows or data.length, or set train.checkpointing)"
    return text
