"""Write a checkpoint's drafter in the community's format, and check what was written."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from safetensors.torch import load_file

from dflash.commands.arguments import answer
from dflash.errors import UserError
from dflash.export import read_drafter, verify, write_drafter
from dflash.train.checkpoint import find, load_weights

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "checkpoint", help="a step-… directory, or a run's output directory (its newest checkpoint)"
    )
    parser.add_argument("output")
    parser.add_argument("--dtype", choices=sorted(DTYPES), help="cast the weights (default: as trained)")
    parser.add_argument("--ema", action="store_true", help="the averaged weights")
    parser.add_argument(
        "--verify", action="store_true", help="write nothing; compare an export that is there"
    )


def run(options: argparse.Namespace) -> int:
    path, out = Path(options.checkpoint), Path(options.output)
    if (path / "checkpoints").is_dir():
        found = find(path / "checkpoints")
        if not found:
            raise UserError(f"{path}: has no whole checkpoint")
        path = found[-1]
    drafter = read_drafter(path)
    if options.ema:
        if not (path / "ema.safetensors").is_file():
            raise UserError(f"{path}: was trained without an average of the weights: leave out --ema")
        load_weights(drafter, load_file(path / "ema.safetensors"), path)
    if not options.verify:
        if (out / "model.safetensors").exists():
            raise UserError(f"{out}: holds a model already: choose another directory")
        write_drafter(drafter, out, DTYPES.get(options.dtype))
    result = verify(out, drafter)
    # A cast rounds: half a unit in the last place of bfloat16 is 2^-9 of a weight.
    limit = (
        0.0
        if options.dtype in (None, "float32")
        else 2**-8 * max(float(t.abs().max()) for t in drafter.state_dict().values())
    )
    good = not result["missing"] and not result["unexpected"] and result["same_config"]
    good = good and result["largest_difference"] <= limit
    values = {**result, "checkpoint": str(path), "output": str(out), "ok": good}
    verdict = "agrees with" if good else "DIFFERS from"
    line = (
        f"{out} {verdict} {path}: {len(result['missing'])} tensors missing, "
        f"{len(result['unexpected'])} unexpected, largest difference {result['largest_difference']:.2g}"
    )
    answer(options, values, line)
    return 0 if good else 1
