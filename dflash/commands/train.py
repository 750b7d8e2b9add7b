"""Train a drafter from a TOML configuration."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import Any

import torch

from dflash import build, config
from dflash.commands.arguments import answer, say
from dflash.errors import UserError
from dflash.export import verify, write_drafter
from dflash.pipeline import devices, ranks
from dflash.train import checkpoint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", help="TOML file")
    parser.add_argument(
        "--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="change one value"
    )
    parser.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="CHECKPOINT",
        help="go on from the newest checkpoint, or a given one",
    )
    parser.add_argument("--skip-bad", action="store_true", help="leave out and count data that can't be used")


def run(options: argparse.Namespace) -> int:
    changes = [*options.set, *(["data.skip_bad=true"] if options.skip_bad else [])]
    settings = config.load(options.config, changes)
    with contextlib.ExitStack() as stack:
        if settings.pipeline.mode == "processes":
            device = ranks.device_of(settings.target.device, ranks.place()[2])
            settings = settings.model_copy(
                update={"target": settings.target.model_copy(update={"device": device})}
            )
            devices.require(device, "target.device")
            stack.enter_context(ranks.connected(torch.device(device)))
        return _train(options, settings)


def _train(options: argparse.Namespace, settings: config.Config) -> int:
    out = Path(settings.output.directory)
    path = Path(options.resume) if options.resume else None
    there = bool(checkpoint.find(out / "checkpoints"))
    resume = options.resume is not None
    if there and not resume:
        if settings.pipeline.mode != "processes" or not ranks.restarted():
            raise UserError(f"{out}: holds checkpoints already: add --resume, or choose another output.directory")
        resume = True  # a rank was lost, and torchrun started all of them again
    made = build.training(settings, say)
    trainer = made.trainer
    if resume:
        build.check_resume(trainer, path)
        say(f"resumed at step {trainer.resume(path)}")
    last: dict[str, Any] = {}
    with _bar(trainer) as bar:

        def report(entry: dict[str, Any]) -> None:
            last.update(entry)
            bar.update(entry["step"] - bar.n)
            shown = {}
            if "loss" in last:
                shown["loss"] = f"{last['loss']:.3f}"
                shown["accuracy"] = " ".join(f"{a:.2f}" for a in last["accuracy"][:4])
                shown["tokens/s"] = f"{last['tokens_per_second']:.0f}"
            if "tau" in last:
                shown["tau"] = f"{last['tau']:.2f}"
            bar.set_postfix(shown)

        trainer.run(report=report)
    with trainer.averaged() as drafter:
        if not trainer.leads:
            return 0
        write_drafter(drafter, out / "drafter")
        checked = verify(out / "drafter", drafter)
    values = {
        "steps": trainer.step, "loss": last.get("loss"), "tau": last.get("tau"), "skipped": trainer.skipped,
        "bad_lines": made.records.skipped, "drafter": str(out / "drafter"),
        "verified": checked["largest_difference"] == 0,
    }  # fmt: skip
    answer(options, values, f"{trainer.step} steps; the drafter is in {out / 'drafter'}")
    return 0


def _bar(trainer: Any) -> Any:
    from tqdm import tqdm

    return tqdm(
        total=trainer.settings.steps, initial=trainer.step, unit="step", desc="train", disable=not trainer.leads
    )
