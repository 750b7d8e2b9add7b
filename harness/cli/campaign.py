"""``harness find`` with a store: a campaign."""

from __future__ import annotations

import argparse
import copy
import os
import re
import sys
from pathlib import Path

from harness.campaign import Campaign, Cell, Plan, Shard, Store
from harness.campaign.groups import as_text, summary
from harness.campaign.progress import Shown
from harness.errors import UserError
from harness.run.launch import Launcher

from . import options as shared


def shard(text: str) -> Shard:
    """``2/5``: the second of five parts."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is no part of a whole (2/5: the second of five)")
    return Shard(int(match[1]), int(match[2]))


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", type=Path, metavar="DIR|FILE", help="keep results there, and go on from what is there")
    parser.add_argument("--shard", type=shard, metavar="I/N", help="with --store: the I-th of N parts of the campaign")
    parser.add_argument("--seeds", type=shared.count, metavar="N", help="with --store: searches of each scenario (default 1; with --seconds no end)")


def none_of_it(options: argparse.Namespace) -> None:
    """Raises UserError for what makes no sense without a store."""
    for name in ("shard", "seeds"):
        if getattr(options, name) is not None:
            raise UserError(f"--{name} is about a campaign: say with --store where its results are kept")
    if len(options.scenario) > 1:
        raise UserError("several scenarios are a campaign: say with --store where its results are kept")


def run(options: argparse.Namespace) -> int:
    if options.output is not None:
        raise UserError("--output: a campaign's failures are in its store, each with its token (harness merge STORE)")
    plan = _plan(options)
    with Store(options.store, plan) as store:
        shown = Shown(store)
        seeds = options.seeds or (None if options.seconds is not None else 1)
        jobs = options.jobs or max(1, len(os.sched_getaffinity(0)))
        campaign = Campaign(
            plan, store, shard=options.shard or Shard(), seeds=seeds, jobs=jobs, watcher=shown,
            interpreter=shared.interpreter(options),
        )  # fmt: skip
        try:
            campaign.run(options.seconds)
        except KeyboardInterrupt:
            shown.clear()
            kept = f"{len(store.content.units)} units and {len(store.content.failures)} failures are kept in {store.path}"
            print(f"harness: {kept}; the same command goes on from there", file=sys.stderr)
            raise
        finally:
            shown.clear()
        content = store.content
    if options.json:
        shared.emit({"store": str(store.path), "found": bool(content.failures), **summary(content)})
    else:
        print(f"{store.path}: {as_text(content)}")
    return int(bool(content.failures))


def _plan(options: argparse.Namespace) -> Plan:
    """Every scenario is loaded once, so that a mistake shows before anything is run."""
    free, interpreter, python = options.mode == "free", shared.interpreter(options), ""
    cells = []
    for reference in dict.fromkeys(options.scenario):
        one = copy.copy(options)
        one.scenario = reference
        with Launcher(reference, free=free, jobs=1, python=interpreter) as launcher:
            about = launcher.about
            python = about["python"]
            drawn = shared.space(one, launcher)
            axes = {name: list(values) for name, values in drawn.axes.items()}
            cells.append(
                Cell(reference, tuple(drawn.counts), drawn.home.axes, axes, about["digest"], about["torch"])
            )
    return Plan.make(
        tuple(cells), free=free, fix=options.fix, strategy=options.strategy, budget=options.budget,
        seed=options.seed, times=options.times, python=python,
    )  # fmt: skip
