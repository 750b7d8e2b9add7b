"""Let the target answer prompts: the text that a drafter trains on."""

from __future__ import annotations

import argparse
from pathlib import Path

from dflash import build
from dflash.commands.arguments import add_sampling, add_target, answer, load_target, positive, sampling, say
from dflash.data import Records
from dflash.data.regenerate import Outcome, Settings, regenerate
from dflash.export import read_drafter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    parser.add_argument("--prompts", required=True, nargs="+", help="JSONL files")
    parser.add_argument("--output", required=True, help="JSONL file; an interrupted one is continued")
    parser.add_argument("--batch", type=positive, default=16)
    parser.add_argument("--drafter", help="a drafter to speed it up; the text stays the target's")
    parser.add_argument(
        "--skip-bad", action="store_true", help="leave out and count prompts that can't be used"
    )
    add_sampling(parser, 256)


def run(options: argparse.Namespace) -> int:
    sampling(options)
    prompts = Records(options.prompts, options.skip_bad)
    target, tokenizer = load_target(options)
    drafter = None
    if options.drafter:
        drafter = read_drafter(options.drafter).to(target.device).eval()
        build.check_pair(drafter, target)
    settings = Settings(
        options.target, options.max_new_tokens, options.batch, options.temperature, options.top_p,
        options.top_k, options.seed,
    )  # fmt: skip

    def progress(outcome: Outcome, total: int) -> None:
        say(f"{outcome.done}/{total} prompts, {outcome.tokens} tokens")

    outcome = regenerate(
        target, tokenizer, prompts, Path(options.output), settings, drafter=drafter,
        skip_bad=options.skip_bad, progress=progress,
    )  # fmt: skip
    skipped = outcome.skipped + prompts.skipped
    values = {"prompts": outcome.done, "reused": outcome.reused, "tokens": outcome.tokens, "skipped": skipped}
    reused = f" ({outcome.reused} from before)" if outcome.reused else ""
    answer(options, values, f"{options.output}: {outcome.done} responses{reused}, {skipped} skipped")
    return 0
