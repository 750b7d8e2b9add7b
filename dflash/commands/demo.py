"""Train a tiny target and its drafter from nothing, without network, and show what the drafter gains."""

from __future__ import annotations

import argparse
from pathlib import Path

from dflash.commands.arguments import answer, say
from dflash.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", default="dflash-demo", help="directory for models, log and plot")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--threads", type=int, default=1, help="torch threads; more than free cores is far slower"
    )


def run(options: argparse.Namespace) -> int:
    import torch

    from dflash.demo import DemoSettings
    from dflash.demo import run as demo

    out = Path(options.output)
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out}: is not empty: choose another --output")
    torch.set_num_threads(max(1, options.threads))
    result = demo(out, DemoSettings(seed=options.seed), say)
    answer(
        options,
        result,
        f"tau {result['tau']:.2f} at temperature 0.7, features zeroed {result['tau_features_zeroed']:.2f}",
    )
    return 0
