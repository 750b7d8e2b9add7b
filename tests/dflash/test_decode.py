from __future__ import annotations

import pytest
import torch
from models import drafter_for, save_family, tiny_target

from dflash import target as targets
from dflash.decode import generate
from dflash.sampling import Sampling


def prompts(count: int, seed: int = 0, vocab: int = 48) -> list[list[int]]:
    g = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 12, (count,), generator=g).tolist()
    return [torch.randint(0, vocab, (n,), generator=g).tolist() for n in lengths]


@pytest.fixture(scope="module", params=["qwen3", "llama"])
def plain_decoding(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """A target, 200 prompts and what transformers itself makes of them."""
    pytest.importorskip("transformers")
    target = targets.load(save_family(request.param, tmp_path_factory.mktemp(request.param)), "float64")
    asked, expected = prompts(200), []
    for prompt in asked:
        ids = torch.tensor([prompt])
        out = target.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False,
            eos_token_id=1, pad_token_id=0,
        )  # fmt: skip
        expected.append(out[0, len(prompt) :].tolist())
    return target, asked, expected


@pytest.mark.parametrize("block_size", [2, 4, 7])
def test_greedy_equals_transformers_own_decoding(plain_decoding, block_size: int) -> None:
    """In double precision, where near-ties of the argmax don't depend on the order of sums."""
    target, asked, expected = plain_decoding
    drafter = drafter_for(target, block_size=block_size, dtype=torch.float64)
    for start in range(0, 200, 25):
        rows = generate(target, drafter, asked[start : start + 25], 12, stop_ids=[1])
        assert [row.tokens for row in rows] == expected[start : start + 25]
        assert all(sum(row.kept) == len(row.tokens) - 1 for row in rows)
    assert any(1 in tokens for tokens in expected), "no prompt ever stops"


def test_every_pass_gives_its_accepted_drafts_and_a_bonus() -> None:
    target = tiny_target()
    drafter = drafter_for(target)
    rows = generate(target, drafter, prompts(30), 30)
    accepted = sum(sum(r.accepted) for r in rows)
    passes = sum(len(r.accepted) for r in rows)
    plain = generate(target, None, prompts(30), 30)
    assert [r.tokens for r in rows] == [r.tokens for r in plain]
    assert sum(len(r.kept) for r in plain) == 30 * 29
    assert passes + accepted >= 30 * 29
    assert accepted > 0


def test_batch_equals_one_by_one_with_sliding_layers() -> None:
    target = tiny_target(dtype=torch.float64)
    drafter = drafter_for(
        target, dtype=torch.float64, layer_types=("full_attention", "sliding_attention"), sliding_window=3
    )
    together = generate(target, drafter, prompts(8), 20)
    for row in together:
        (alone,) = generate(target, drafter, [row.prompt], 20)
        assert alone == row


def test_draft_context_equals_training_forward() -> None:
    """What the drafter sees while decoding is what it was trained on: same states from both paths."""
    from dflash import attention
    from dflash.decode import DecodeAttention, DraftContext
    from dflash.masks import Layout

    target = tiny_target(dtype=torch.float64)
    sliding = {"layer_types": ("full_attention", "sliding_attention"), "sliding_window": 3}
    for changes in ({}, sliding):
        drafter = drafter_for(target, dtype=torch.float64, **changes)
        ids = torch.tensor([prompts(1, seed=5)[0] * 3])
        out = target.read(ids, (1, 3))
        anchor = ids.shape[1] - 4
        block = torch.tensor([[int(ids[0, anchor]), 49, 49, 49]])
        layout = Layout(
            torch.tensor([[anchor]]),
            torch.tensor([[True]]),
            torch.zeros_like(ids),
            torch.arange(ids.shape[1])[None],
            4,
        )
        trained = drafter(
            target.embed(block), out.features, layout.query_positions(), layout.positions,
            attention.build("sdpa", drafter.config, layout),
        )  # fmt: skip
        context = DraftContext(drafter, 1, ids.shape[1] + 8)
        with torch.no_grad():
            context.write(out.features[:, :6], torch.arange(6)[None])
            context.write(out.features[:, 6:], torch.arange(6, ids.shape[1])[None])
        attend = DecodeAttention(drafter.config, torch.tensor([anchor]))
        decoded = drafter.draft(
            target.embed(block), layout.query_positions(), context.upto(attend.reach), attend
        )
        torch.testing.assert_close(decoded, trained)


def test_stop_token_ends_a_row_and_is_kept() -> None:
    target = tiny_target()
    (free,) = generate(target, None, [[3, 4]], 20)
    stop = free.tokens[7]
    first = free.tokens.index(stop)
    (row,) = generate(target, drafter_for(target, block_size=7), [[3, 4]], 20, stop_ids=[stop])
    assert row.tokens == free.tokens[: first + 1]
    assert row.stopped


def test_sampling_warps_like_its_definition() -> None:
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0])
    p = Sampling(temperature=1.0, top_k=2).probabilities(logits)
    torch.testing.assert_close(p, torch.tensor([2.0, 1.0, float("-inf"), float("-inf")]).softmax(0))
    p = Sampling(temperature=1.0, top_p=0.7).probabilities(logits)
    assert (p > 0).tolist() == [True, True, False, False]
    for bad in ({"temperature": -1.0}, {"top_p": 0.0}, {"top_k": -1}):
        with pytest.raises(ValueError, match="must"):
            Sampling(**bad)


def test_nothing_to_decode_is_an_error() -> None:
    for bad in ([], [[]]):
        with pytest.raises(ValueError, match="every prompt needs a token"):
            generate(tiny_target(), None, bad, 3)
