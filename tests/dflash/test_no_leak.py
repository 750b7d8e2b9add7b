"""A drafter handed the true future can't use it."""

from __future__ import annotations

import pytest
import torch
from models import drafter_for, tiny_target

from dflash.data import Batch
from dflash.train.step import Prepared, denoise, prepare


def prepared_at(tokens: torch.Tensor, anchors: list[int], drafter, documents: torch.Tensor) -> Prepared:
    batch = Batch(tokens, torch.ones_like(tokens, dtype=torch.bool), documents)
    made = prepare(batch, drafter.config, len(anchors), torch.Generator().manual_seed(0))
    made.layout.anchors[:] = torch.tensor([anchors])
    made.layout.valid[:] = True
    return made


SLIDING = {"layer_types": ("full_attention", "sliding_attention"), "sliding_window": 6}


@pytest.mark.parametrize("backend", ["sdpa", "flex"])
@pytest.mark.parametrize("changes", [{}, SLIDING], ids=["full", "sliding"])
def test_only_the_past_of_its_own_document_is_used(backend: str, changes: dict) -> None:
    target, g = tiny_target(), torch.Generator().manual_seed(1)
    drafter = drafter_for(target, **changes)
    tokens = torch.randint(0, 48, (1, 20), generator=g)
    documents = torch.tensor([[0] * 4 + [1] * 16])
    anchors = [7, 10, 15]

    def states(tokens: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            made = prepared_at(tokens, anchors, drafter, documents)
            return denoise(drafter, target, made, features, backend)  # [3, B-1, D]

    features = target.read(tokens, (1, 3), documents).features
    before = states(tokens, features)

    for i, anchor in enumerate(anchors):
        changed = tokens.clone()
        changed[:, anchor + 1 :] = (changed[:, anchor + 1 :] + 1) % 48
        future = states(changed, target.read(changed, (1, 3), documents).features)
        assert torch.equal(future[i], before[i]), "tokens after the anchor reach it"

        planted = features.clone()
        planted[:, anchor:] += 10.0  # features at and after the anchor, as from a target that saw the answer
        assert torch.equal(states(tokens, planted)[i], before[i]), "features from the anchor on reach it"

        near = features.clone()
        near[:, anchor - 1] += 10.0
        assert not torch.allclose(states(tokens, near)[i], before[i]), (
            "the newest allowed feature is not used"
        )

        other = features.clone()
        other[:, :4] += 10.0
        assert torch.equal(states(tokens, other)[i], before[i]), "another document reaches it"


def test_blocks_do_not_see_each_other() -> None:
    target, g = tiny_target(), torch.Generator().manual_seed(1)
    drafter = drafter_for(target)
    tokens, documents = torch.randint(0, 48, (1, 20), generator=g), torch.zeros(1, 20, dtype=torch.long)
    features = target.read(tokens, (1, 3)).features
    with torch.no_grad():
        one = denoise(drafter, target, prepared_at(tokens, [5, 9, 14], drafter, documents), features, "sdpa")
        two = denoise(drafter, target, prepared_at(tokens, [5, 11, 14], drafter, documents), features, "sdpa")
    assert torch.equal(one[[0, 2]], two[[0, 2]])
    assert not torch.allclose(one[1], two[1])
