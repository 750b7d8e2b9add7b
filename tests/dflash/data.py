"""Small data sources for tests of training."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from dflash.data import Batches, Example, Records


def write_texts(path: Path, texts: list[list[int]]) -> Records:
    """Token lists as a JSONL file of prompt and response ids."""
    lines = [json.dumps({"prompt_ids": t[:1], "response_ids": t[1:]}) + "\n" for t in texts]
    path.write_text("".join(lines))
    return Records([path])


def random_batches(path: Path, count: int = 20, vocab: int = 48, seed: int = 0, **changes: object) -> Batches:
    g = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, 30, (count,), generator=g).tolist()
    texts = [torch.randint(0, vocab, (n,), generator=g).tolist() for n in lengths]
    options: dict[str, object] = {"rows": 2, "length": 24, "block_size": 4, **changes}
    return Batches(write_texts(path, texts), whole, **options)  # type: ignore[arg-type]


def whole(record: dict) -> Example:
    tokens = record["prompt_ids"] + record["response_ids"]
    return Example(tokens, [False] + [True] * (len(tokens) - 1))
