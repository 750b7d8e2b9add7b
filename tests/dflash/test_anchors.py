from __future__ import annotations

import torch

from dflash.anchors import block_labels, eligible, sample_anchors


def test_label_of_slot_k_at_anchor_a_is_token_a_plus_k() -> None:
    tokens = torch.arange(100, 120)[None]
    documents = torch.tensor([[0] * 12 + [1] * 6 + [-1] * 2])
    loss_mask = torch.ones(1, 20, dtype=torch.bool)
    loss_mask[0, 5] = False
    anchors, valid = torch.tensor([[3, 10, 14, 0]]), torch.tensor([[True, True, True, False]])
    labels, present = block_labels(tokens, loss_mask, documents, anchors, valid, 4)
    for block, a in enumerate([3, 10, 14]):
        for k in range(1, 4):
            if present[0, block, k - 1]:
                assert labels[0, block, k - 1] == 100 + a + k
    assert present[0].tolist() == [
        [True, False, True],  # 5 is masked out
        [True, False, False],  # 12 belongs to the next document
        [True, True, True],
        [False, False, False],  # a left-over slot
    ]


def test_eligible_needs_a_counting_successor_in_the_document() -> None:
    documents = torch.tensor([[0, 0, 0, 1, 1, -1, -1]])
    loss_mask = torch.tensor([[0, 1, 0, 1, 1, 1, 1]])
    assert eligible(loss_mask, documents)[0].nonzero().flatten().tolist() == [0, 3]


def test_sampling_is_without_replacement_ascending_and_of_fixed_size() -> None:
    candidates = torch.zeros(3, 9, dtype=torch.bool)
    candidates[0, [1, 4, 8]] = True
    candidates[2] = True
    seen: set[int] = set()
    for seed in range(20):
        anchors, valid = sample_anchors(candidates, 5, torch.Generator().manual_seed(seed))
        assert anchors.shape == valid.shape == (3, 5)
        assert anchors[0][valid[0]].tolist() == [1, 4, 8]
        assert not valid[1].any()
        row = anchors[2].tolist()
        assert row == sorted(set(row))
        seen |= set(row)
    assert seen == set(range(9))


def test_rows_shorter_than_the_slots_are_padded() -> None:
    anchors, valid = sample_anchors(torch.ones(1, 2, dtype=torch.bool), 5, torch.Generator())
    assert anchors.tolist() == [[0, 1, 0, 0, 0]]
    assert valid.tolist() == [[True, True, False, False, False]]
