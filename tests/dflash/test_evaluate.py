from __future__ import annotations

import pytest
from models import drafter_for, tiny_target

from dflash.decode import Generation
from dflash.evaluate import distinct_trigrams, evaluate, interval
from dflash.sampling import Sampling


def test_report_counts_what_it_says() -> None:
    target = tiny_target()
    drafter = drafter_for(target)
    report = evaluate(target, drafter, [[1, 2], [3], [4, 5, 6]], 9, batch=2, compare=True)
    rows = report.generations
    passes = [k for r in rows for k in r.kept]
    assert report.tau == sum(passes) / len(passes)
    assert report.passes == len(passes)
    assert report.tokens == sum(len(r.tokens) for r in rows) == 27
    assert sum(passes) == 27 - 3, "the first token of each text comes with the prompt's pass"
    agreed = [n for r in rows for n in r.accepted]
    assert report.acceptance == [sum(n >= k for n in agreed) / len(agreed) for k in (1, 2, 3)]
    assert report.lossless is True
    assert report.tau_low <= report.tau <= report.tau_high
    sampled = evaluate(target, drafter, [[1, 2]], 9, sampling=Sampling(0.8), compare=True)
    assert sampled.lossless is None


def test_a_lossy_decoder_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from dflash import decode

    monkeypatch.setattr(
        decode, "accept_greedy", lambda drafts, logits: (drafts.ne(-1).sum(-1), logits[:, -1].argmax(-1))
    )
    target = tiny_target()
    report = evaluate(target, drafter_for(target), [[1, 2], [3]], 12, compare=True)
    assert report.tau > 3
    assert report.lossless is False


def test_nothing_drafted_is_an_error() -> None:
    target = tiny_target()
    with pytest.raises(ValueError, match="nothing was drafted"):
        evaluate(target, drafter_for(target), [[1]], 1)


def test_trigram_share() -> None:
    assert distinct_trigrams([[1, 2, 3, 4]]) == 1.0
    assert distinct_trigrams([[1, 1, 1, 1, 1], [1, 2]]) == pytest.approx(1 / 3)


def test_interval_is_over_prompts_not_passes() -> None:
    """Many passes of two unlike texts leave the interval wide."""
    rows = [Generation([1], kept=[1] * 500), Generation([1], kept=[5] * 500)]
    low, high = interval(rows)
    assert low == pytest.approx(1.0)
    assert high == pytest.approx(5.0)
