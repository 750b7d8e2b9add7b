"""Speculative sampling leaves the target's distribution alone, says a chi-square test over many samples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from models import drafter_for, tiny_target
from torch import Tensor

from dflash import decode
from dflash.sampling import Sampling, accept, draw

SAMPLES, VOCAB, TOKENS = 20_000, 5, 3


def sample_matching(
    drafts: Tensor, q: Tensor, p: Tensor, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """A common mistake: keep a draft when it equals a draw of the target, else draw from the target again."""
    drawn = draw(p, generator)
    count = (drafts == drawn[:, :-1]).int().cumprod(-1).sum(-1)
    return count, draw(p[torch.arange(p.shape[0]), count], generator)


def exact(target, prompt: list[int], sampling: Sampling) -> dict[tuple[int, ...], float]:
    """Probability of every continuation of TOKENS tokens, from the target alone."""
    found: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(TOKENS):
        longer = {}
        for tokens, probability in found.items():
            final = target.read(torch.tensor([prompt + list(tokens)]), ()).final[:, -1]
            for token, p in enumerate(sampling.probabilities(target.head(final))[0].tolist()):
                longer[(*tokens, token)] = probability * p
        found = longer
    return found


def chi_square_p_value(rule: Callable, sampling: Sampling, seed: int) -> float:
    target = tiny_target(seed=2, vocab_size=VOCAB, std=0.5)
    # Wide weights, so that drafts differ from the target's choices and rejections happen.
    drafter = drafter_for(target, block_size=3)
    for parameter in drafter.parameters():
        parameter.data.mul_(8.0)
    prompt, g = [1, 3, 2], torch.Generator().manual_seed(seed)
    saved, decode.accept = decode.accept, rule
    try:
        rows = []
        for _ in range(SAMPLES // 2000):
            rows += decode.generate(target, drafter, [prompt] * 2000, TOKENS, sampling, generator=g)
    finally:
        decode.accept = saved
    counts = Counter(tuple(r.tokens) for r in rows)
    expected = {k: SAMPLES * p for k, p in exact(target, prompt, sampling).items()}
    assert all(expected.get(k, 0) > 1e-9 for k in counts), "a continuation the target never gives"
    # Pool rare continuations, as the test's approximation asks for counts of 5 or more.
    common = [k for k, e in expected.items() if e >= 5]
    pairs = [(counts[k], expected[k]) for k in common]
    rest = SAMPLES - sum(e for _, e in pairs)
    if rest >= 5:
        pairs.append((SAMPLES - sum(c for c, _ in pairs), rest))
    statistic = sum((c - e) ** 2 / e for c, e in pairs)
    half, x = (
        torch.tensor((len(pairs) - 1) / 2.0, dtype=torch.float64),
        torch.tensor(statistic / 2.0).double(),
    )
    accepted = sum(sum(r.accepted) for r in rows) / sum(len(r.accepted) for r in rows)
    assert 0.05 < accepted < 1.95, "drafts must be both accepted and refused, or nothing is tested"
    return float(torch.special.gammaincc(half, x))


@pytest.mark.parametrize(
    "sampling",
    [Sampling(1.0), Sampling(0.7, top_p=0.9), Sampling(1.3, top_k=3)],
    ids=["plain", "top_p", "top_k"],
)
def test_target_distribution_is_kept(sampling: Sampling) -> None:
    assert chi_square_p_value(accept, sampling, seed=1) > 1e-3


def test_sample_matching_is_rejected() -> None:
    assert chi_square_p_value(sample_matching, Sampling(1.0), seed=1) < 1e-6


def test_acceptance_rate_is_one_minus_total_variation() -> None:
    g = torch.Generator().manual_seed(0)
    q = torch.tensor([0.5, 0.3, 0.2]).expand(50_000, 1, 3)
    p = torch.tensor([0.2, 0.3, 0.5]).expand(50_000, 2, 3)
    count, _ = accept(draw(q, g), q, p, g)
    assert math.isclose(float(count.float().mean()), 0.7, abs_tol=0.01)
