"""The loops of the threads."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from dflash.attention import flex
from dflash.loss import Objective
from dflash.pipeline import transfer
from dflash.pipeline.board import Board
from dflash.pipeline.jobs import Features, Gradient, Job
from dflash.pipeline.replica import Replica
from dflash.pipeline.window import Window
from dflash.target import Target
from dflash.target.base import Ends
from dflash.train.plan import Plan
from dflash.train.step import features_of, loss_of


class Feeder:
    """Draws plans and hands out their micro-batches: `plans` to the coordinator, `jobs` to target workers."""

    def __init__(
        self, board: Board, draw: Callable[[int], Plan], first: int, last: int, drafters: int,
        plans: Window[Plan], jobs: Window[Job],
    ) -> None:  # fmt: skip
        self.board, self.draw, self.steps = board, draw, range(first, last)
        self.plans, self.jobs = plans, jobs
        self.number, self.turns = 0, [0] * drafters

    def run(self) -> None:
        for count, step in enumerate(self.steps):
            self.board.does(f"reads data for step {step + 1}")
            plan = self.draw(step)
            self.plans.put(count, plan)
            for job in self.jobs_of(plan):
                self.jobs.put(job.number, job)

    def jobs_of(self, plan: Plan) -> list[Job]:
        found = []
        for j, prepared in enumerate(plan.micro):
            drafter = j % len(self.turns)
            job = Job(self.number, drafter, self.turns[drafter], plan.step, prepared, plan.denominator)
            self.number += 1
            self.turns[drafter] += 1
            found.append(job)
        return found


class TargetWorker:
    """Reads rows with its own copy of the target and sends the features to the drafter's device."""

    def __init__(
        self, board: Board, target: Target, layer_ids: Sequence[int], devices: Sequence[torch.device],
        jobs: Window[Job], inboxes: Sequence[Window[Features]],
    ) -> None:  # fmt: skip
        self.board, self.target, self.layer_ids, self.devices = board, target, layer_ids, devices
        self.jobs, self.inboxes = jobs, inboxes

    def run(self) -> None:
        transfer.use(self.target.device)
        here = transfer.to(self.target.device)
        while True:
            job = self.jobs.take()
            self.board.does(f"reads micro-batch {job.number} (step {job.step + 1})")
            there = self.devices[job.drafter]
            cached = job.prepared.batch.features is not None
            batch = job.prepared.batch if cached else job.prepared.batch.moved(here)
            output = transfer.output_to(there, features_of(self.target, batch, self.layer_ids))
            bare = replace(job.prepared.batch, features=None, final=None)  # they travel in the output
            moved = replace(job.prepared, batch=bare).to(transfer.to(there))
            self.inboxes[job.drafter].put(job.turn, Features(job, moved, output))


class DrafterWorker:
    """Forward and backward of its micro-batches, each under the weights of its step."""

    def __init__(
        self, board: Board, replica: Replica, ends: Ends, objective: Objective, backend: str, bfloat16: bool,
        own_compile: bool, is_open: Callable[[int], bool], inbox: Window[Features], gradients: Window[Gradient],
    ) -> None:  # fmt: skip
        self.board, self.replica, self.ends, self.objective = board, replica, ends, objective
        self.backend, self.bfloat16, self.own_compile = backend, bfloat16, own_compile
        self.is_open, self.inbox, self.gradients = is_open, inbox, gradients

    def run(self) -> None:
        transfer.use(self.replica.drafter.fc.weight.device)
        pulled = -1
        with flex.own_compile() if self.own_compile else contextlib.nullcontext():
            while True:
                made = self.inbox.take()
                step = made.job.step
                with self.board.condition:
                    self.board.wait(lambda step=step: self.is_open(step))  # type: ignore[misc]
                self.board.does(f"trains on micro-batch {made.job.number} (step {step + 1})")
                if pulled != step:
                    self.replica.pull()
                    pulled = step
                self.gradients.put(made.job.number, self.work(made))

    def work(self, made: Features) -> Gradient:
        drafter = self.replica.drafter
        kind = drafter.fc.weight.device.type
        with torch.autocast(kind, torch.bfloat16, enabled=self.bfloat16):
            part, counted = loss_of(
                drafter, self.ends, made.prepared, made.output, self.objective, made.job.denominator, self.backend
            )
        part.backward()
        return Gradient(made.job, self.replica.give(), float(part.detach()), counted)
