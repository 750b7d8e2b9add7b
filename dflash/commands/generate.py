"""Continue a prompt with a target and its drafter."""

from __future__ import annotations

import argparse
import time

import torch

from dflash import build
from dflash.commands.arguments import add_sampling, add_target, answer, load_target, sampling
from dflash.data.examples import prompt_of
from dflash.decode import generate
from dflash.errors import UserError
from dflash.export import read_drafter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    parser.add_argument("--drafter", help="exported drafter; without one, plain decoding")
    parser.add_argument("--prompt", required=True)
    parser.add_argument("--chat", action="store_true", help="put the prompt through the chat template")
    add_sampling(parser, 128)


def run(options: argparse.Namespace) -> int:
    how = sampling(options)
    if not options.prompt:
        raise UserError("--prompt is empty: give at least one character")
    target, tokenizer = load_target(options)
    drafter = None
    if options.drafter:
        drafter = read_drafter(options.drafter).to(target.device).eval()
        build.check_pair(drafter, target)
    record = (
        {"messages": [{"role": "user", "content": options.prompt}]}
        if options.chat
        else {"prompt": options.prompt}
    )
    ids, _ = prompt_of(record, tokenizer)
    g = torch.Generator(target.device).manual_seed(options.seed)
    began = time.perf_counter()
    (row,) = generate(target, drafter, [ids], options.max_new_tokens, how, tokenizer.stop_ids, g)
    seconds = time.perf_counter() - began
    text = tokenizer.decode(row.tokens)
    tau = sum(row.kept) / len(row.kept) if row.kept else None
    values = {"text": text, "tokens": row.tokens, "tau": tau, "passes": len(row.kept), "seconds": seconds}
    answer(options, values, text)
    return 0
