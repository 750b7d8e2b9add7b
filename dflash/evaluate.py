"""How many tokens a target pass yields, and whether the output is still the target's."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from dflash.decode import Generation, generate
from dflash.model import Drafter
from dflash.sampling import Sampling
from dflash.target import Target


@dataclass
class Report:
    """`tau`: tokens kept per verifying target pass, bonus included, over all passes of all prompts.

    The pass that reads the prompt is not counted; the last pass of a prompt counts the tokens left of it
    after the length limit or a stop token, so tau is slightly understated for short outputs.
    `tau_low, tau_high`: 95 % bootstrap interval over prompts. `acceptance[k-1]`: share of passes that
    accepted at least k drafts. `lossless`: output equal to plain greedy decoding (None with a temperature).
    `speedup`: seconds of plain decoding over seconds with the drafter, same prompts, same batch.
    """

    tau: float
    tau_low: float
    tau_high: float
    prompts: int
    tokens: int
    passes: int
    acceptance: list[float]
    distinct_trigrams: float
    lossless: bool | None = None
    speedup: float | None = None
    seconds: float = 0.0
    generations: list[Generation] = field(default_factory=list, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the texts, for JSON."""
        entries = asdict(self)
        entries.pop("generations")
        return entries


def distinct_trigrams(rows: Sequence[Sequence[int]]) -> float:
    """Different runs of three tokens over all such runs, within each text, averaged over texts.

    1 for text that never repeats; looping text, which any drafter predicts well, goes towards 0.
    """
    shares = []
    for row in rows:
        grams = [tuple(row[i : i + 3]) for i in range(len(row) - 2)]
        if grams:
            shares.append(len(set(grams)) / len(grams))
    return sum(shares) / len(shares) if shares else 0.0


def interval(rows: Sequence[Generation], draws: int = 1000, seed: int = 0) -> tuple[float, float]:
    """95 % bootstrap interval of tau. Prompts are resampled, not passes: passes of one text are alike."""
    kept = torch.tensor([float(sum(r.kept)) for r in rows])
    passes = torch.tensor([float(len(r.kept)) for r in rows])
    g = torch.Generator().manual_seed(seed)
    pick = torch.randint(0, len(rows), (draws, len(rows)), generator=g)
    tau = kept[pick].sum(1) / passes[pick].sum(1).clamp(min=1)
    low, high = tau.quantile(torch.tensor([0.025, 0.975])).tolist()
    return low, high


def evaluate(
    target: Target, drafter: Drafter, prompts: Sequence[Sequence[int]], max_new_tokens: int, *,
    sampling: Sampling | None = None, stop_ids: Sequence[int] = (), batch: int = 8, seed: int = 0,
    compare: bool = False, zero_features: bool = False, progress: Callable[[int], None] = lambda done: None,
) -> Report:  # fmt: skip
    """Decode the prompts; with `compare`, also without the drafter, for speed and equality.

    Raises ValueError if nothing could be drafted (every text ends with its first token).
    """
    sampling = sampling or Sampling()

    def run(model: Drafter | None) -> tuple[list[Generation], float]:
        g = torch.Generator(target.device).manual_seed(seed)
        rows: list[Generation] = []
        began = time.perf_counter()
        for start in range(0, len(prompts), batch):
            part = prompts[start : start + batch]
            rows += generate(target, model, part, max_new_tokens, sampling, stop_ids, g, zero_features)
            progress(len(rows))
        if target.device.type == "cuda":
            torch.cuda.synchronize(target.device)
        return rows, time.perf_counter() - began

    was_training = drafter.training
    drafter.eval()
    rows, seconds = run(drafter)
    drafter.train(was_training)
    passes = sum(len(r.kept) for r in rows)
    if not passes:
        raise ValueError("every text ended with its first token: nothing was drafted")
    low, high = interval(rows)
    slots = drafter.config.block_size - 1
    report = Report(
        tau=sum(sum(r.kept) for r in rows) / passes,
        tau_low=low,
        tau_high=high,
        prompts=len(prompts),
        tokens=sum(len(r.tokens) for r in rows),
        passes=passes,
        acceptance=[sum(n >= k for r in rows for n in r.accepted) / passes for k in range(1, slots + 1)],
        distinct_trigrams=distinct_trigrams([r.tokens for r in rows]),
        seconds=seconds,
        generations=rows,
    )
    if compare:
        plain, plain_seconds = run(None)
        report.speedup = plain_seconds / seconds
        if sampling.greedy:
            report.lossless = [r.tokens for r in plain] == [r.tokens for r in rows]
    return report
