"""Measure a drafter: tokens per target pass, acceptance by position, speed, equality."""

from __future__ import annotations

import argparse

from dflash import build
from dflash.commands.arguments import add_sampling, add_target, answer, load_target, positive, sampling, say
from dflash.errors import UserError
from dflash.evaluate import evaluate
from dflash.export import read_drafter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    parser.add_argument("--drafter", required=True, help="exported drafter or training checkpoint")
    parser.add_argument("--prompts", required=True, help="JSONL file")
    parser.add_argument("--count", type=positive, help="use the first so many prompts")
    parser.add_argument(
        "--batch", type=positive, default=1, help="prompts decoded together (speed-up is for this batch)"
    )
    parser.add_argument("--no-compare", action="store_true", help="don't decode without the drafter as well")
    parser.add_argument(
        "--zero-features", action="store_true", help="blind the drafter to the target's features"
    )
    parser.add_argument("--skip-bad", action="store_true")
    add_sampling(parser, 128)


def run(options: argparse.Namespace) -> int:
    how = sampling(options)
    target, tokenizer = load_target(options)
    drafter = read_drafter(options.drafter).to(target.device).eval()
    build.check_pair(drafter, target)
    prompts = build.read_prompts(options.prompts, tokenizer, options.count, options.skip_bad)
    try:
        report = evaluate(
            target, drafter, prompts, options.max_new_tokens, sampling=how, stop_ids=tokenizer.stop_ids,
            batch=options.batch, seed=options.seed, compare=not options.no_compare,
            zero_features=options.zero_features, progress=lambda done: say(f"{done}/{len(prompts)} prompts"),
        )  # fmt: skip
    except ValueError as error:
        raise UserError(f"{options.prompts}: {error}") from None
    lines = [
        f"tau {report.tau:.3f} [{report.tau_low:.3f}, {report.tau_high:.3f}] over {report.prompts} prompts, "
        f"{report.passes} target passes, {report.tokens} tokens",
        "acceptance by position " + " ".join(f"{a:.2f}" for a in report.acceptance),
        f"distinct trigrams {report.distinct_trigrams:.2f}",
    ]
    if report.speedup is not None:
        lines.append(f"speed-up over plain decoding {report.speedup:.2f}")
    if report.lossless is not None:
        lines.append(
            "output equals plain greedy decoding"
            if report.lossless
            else "OUTPUT DIFFERS from greedy decoding"
        )
    answer(options, report.as_dict(), "\n".join(lines))
    return 1 if report.lossless is False else 0
