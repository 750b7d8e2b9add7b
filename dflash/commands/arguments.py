"""Options that several commands share."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from dflash import build
from dflash.config import TargetSection
from dflash.data import Tokenizer
from dflash.errors import UserError
from dflash.sampling import Sampling
from dflash.target import Target


def add_target(parser: argparse.ArgumentParser) -> None:
    """Which frozen model."""
    parser.add_argument("--target", required=True, help="checkpoint directory of the target")
    parser.add_argument("--gguf-file", help="name of a GGUF file in that directory")
    parser.add_argument("--tokenizer", help="another tokenizer, or 'bytes' (default: the target's)")
    parser.add_argument("--dtype", default="auto", help="auto, float32, float64, bfloat16 or float16")
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--stop-id", type=int, action="append", default=[], help="a further stop token; repeatable"
    )


def load_target(options: argparse.Namespace) -> tuple[Target, Tokenizer]:
    """The model that `add_target` describes, and its tokenizer."""
    if options.dtype not in ("auto", "float32", "float64", "bfloat16", "float16"):
        raise UserError(f"--dtype {options.dtype}: use auto, float32, float64, bfloat16 or float16")
    section = TargetSection(
        path=options.target, tokenizer=options.tokenizer, gguf_file=options.gguf_file, dtype=options.dtype,
        device=options.device, stop_ids=options.stop_id,
    )  # fmt: skip
    return build.load_target(section)


def add_sampling(parser: argparse.ArgumentParser, tokens: int) -> None:
    """How to continue."""
    parser.add_argument("--max-new-tokens", type=positive, default=tokens)
    parser.add_argument("--temperature", type=float, default=0.0, help="0 is greedy")
    parser.add_argument("--top-p", type=float, default=1.0)
    parser.add_argument("--top-k", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)


def sampling(options: argparse.Namespace) -> Sampling:
    """Raises UserError for values out of range."""
    try:
        return Sampling(options.temperature, options.top_p, options.top_k)
    except ValueError as error:
        raise UserError(str(error)) from None


def positive(text: str) -> int:
    """An integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def say(line: str) -> None:
    """Progress, which never mixes with a command's output."""
    print(line, file=sys.stderr, flush=True)


def answer(options: argparse.Namespace, values: dict[str, Any], text: str) -> None:
    """The command's result: JSON on request, text otherwise."""
    print(json.dumps(values) if options.json else text, flush=True)
