"""The threads of one pipeline, and the coordinator's part: gradients in a fixed order."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import torch

from dflash.attention import default_backend
from dflash.loss import BlockStatistics, Objective
from dflash.model import Drafter
from dflash.pipeline import transfer
from dflash.pipeline.board import Board, Failure
from dflash.pipeline.jobs import Features, Gradient, Job
from dflash.pipeline.replica import Replica
from dflash.pipeline.settings import PipelineSettings
from dflash.pipeline.window import Window
from dflash.pipeline.workers import DrafterWorker, Feeder, TargetWorker
from dflash.target import Target
from dflash.train.plan import Plan
from dflash.train.settings import Settings

_GRACE = 10.0  # seconds for a worker to finish its piece of work when the pipeline stops


class NotFinite(ArithmeticError):
    """A worker's loss is not a number."""


class Threads:
    """Workers for the steps `first` to `last` of a training; `draw(step)` plans one and is called in the feeder.

    `master` is the drafter that the optimizer steps on. Its weights may change only between `gradients` of one
    step and of the next. The calling thread is the coordinator.
    """

    def __init__(
        self, how: PipelineSettings, settings: Settings, master: Drafter, target: Target, objective: Objective,
        draw: Callable[[int], Plan], first: int, last: int,
    ) -> None:  # fmt: skip
        self.master, self.device = master, master.fc.weight.device
        board = self.board = Board(how.patience)
        devices = [torch.device(name) for name in how.drafters]
        self.plans: Window[Plan] = Window(board, how.depth)
        self.jobs: Window[Job] = Window(board, how.depth * max(1, len(how.targets)))
        self.inboxes: list[Window[Features]] = [Window(board, how.depth) for _ in devices]
        self.results: Window[Gradient] = Window(board, len(devices))
        self.open = first - 1  # the step whose weights are there
        self.feeder = Feeder(board, draw, first, last, len(devices), self.plans, self.jobs)
        self.targets = [
            TargetWorker(
                board, target.replica(torch.device(name)), master.config.target_layer_ids, devices, self.jobs,
                self.inboxes,
            )
            for name in how.targets
        ]  # fmt: skip
        backends = [default_backend(d) if settings.attention == "auto" else settings.attention for d in devices]
        self.drafters = [
            DrafterWorker(
                board, Replica(master, device, settings.checkpointing), target.ends(device), objective, backend,
                settings.precision == "bfloat16", how.compile == "per_thread", self._is_open, inbox, self.results,
            )
            for device, backend, inbox in zip(devices, backends, self.inboxes, strict=True)
        ]  # fmt: skip
        loops: list[tuple[str, Callable[[], None]]] = [("feeder", self.feeder.run)]
        loops += [(f"target {i} ({d})", w.run) for i, (d, w) in enumerate(zip(how.targets, self.targets, strict=True))]
        loops += [(f"drafter {i} ({d})", w.run) for i, (d, w) in enumerate(zip(how.drafters, self.drafters, strict=True))]
        # Daemons: one that hangs in C code must not keep the process from ending.
        self.threads = [threading.Thread(target=self._live, args=pair, name=pair[0], daemon=True) for pair in loops]

    def _live(self, name: str, loop: Callable[[], None]) -> None:
        with self.board.at_work(name):
            loop()

    def _is_open(self, step: int) -> bool:
        return self.open >= step

    @property
    def failure(self) -> Failure | None:
        return self.board.failure

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def plan(self) -> Plan:
        """The next step's plan. Raises Stopped, with the cause in `failure`."""
        return self.plans.take()

    def gradients(self, plan: Plan) -> tuple[float, BlockStatistics]:
        """Leave the gradient of the step's loss in the master; return the loss and its statistics.

        Raises Stopped, with the cause in `failure`, and NotFinite.
        """
        with self.board.condition:
            self.open = plan.step
            self.board.condition.notify_all()
        loss = 0.0
        stats = BlockStatistics.none(self.master.config.block_size - 1, self.device)
        for _ in plan.micro:
            made = self.results.take()
            if not math.isfinite(made.loss):
                who = self.threads[1 + len(self.targets) + made.job.drafter].name
                raise NotFinite(f"step {plan.step + 1}: the loss of {who} is not finite (micro-batch {made.job.number})")
            self._add(made)
            loss += made.loss
            c = made.statistics
            stats = stats + BlockStatistics(
                c.correct.to(self.device), c.present.to(self.device), c.prefix, c.blocks, c.loss
            )
        return loss, stats

    @torch.no_grad()
    def _add(self, made: Gradient) -> None:
        move = transfer.to(self.device)
        for parameter, given in zip(self.master.parameters(), made.tensors, strict=True):
            if given is None:
                continue
            if parameter.grad is None:
                parameter.grad = move(given)
            else:
                parameter.grad.add_(move(given))

    def stop(self) -> list[str]:
        """End all threads; returns the names of those that did not end within their grace."""
        self.board.stop()
        for thread in self.threads:
            if thread.ident is not None:
                thread.join(_GRACE)
        return [thread.name for thread in self.threads if thread.is_alive()]

    def figures(self) -> dict[str, float]:
        """Seconds each worker has waited, by name, and the deepest each queue has been."""
        found = {f"waited {name}": member.waited for name, member in self.board.members.items()}
        found["deepest jobs"], found["deepest gradients"] = self.jobs.deepest, self.results.deepest
        found |= {f"deepest features {i}": box.deepest for i, box in enumerate(self.inboxes)}
        return found
