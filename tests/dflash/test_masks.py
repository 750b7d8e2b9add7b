from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import random_layout

from dflash.masks import Layout, causal_in_document, dense, drafter_mask, draw, flex


def reference(layout: Layout, window: int | None, causal: bool) -> torch.Tensor:
    """The rule once more, element by element and without looking at the real one."""
    rows, blocks = layout.anchors.shape
    size, length = layout.block_size, layout.documents.shape[1]
    seen = torch.zeros(rows, 1, blocks * size, length + blocks * size, dtype=torch.bool)
    for row in range(rows):
        for block in range(blocks):
            anchor = int(layout.anchors[row, block])
            place, document = int(layout.positions[row, anchor]), int(layout.documents[row, anchor])
            for slot in range(size):
                query = block * size + slot
                here = place + slot
                for feature in range(length):
                    there = int(layout.positions[row, feature])
                    ok = bool(layout.valid[row, block]) and int(layout.documents[row, feature]) == document
                    ok = ok and there < place and (window is None or here - there < window)
                    seen[row, 0, query, feature] = ok
                for other in range(size):
                    ok = (other <= slot or not causal) and (window is None or abs(other - slot) < window)
                    seen[row, 0, query, length + block * size + other] = ok
    return seen


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    window=st.sampled_from([None, 1, 3, 9]),
    causal=st.booleans(),
    size=st.integers(2, 5),
)
def test_dense_mask_equals_reference(seed: int, window: int | None, causal: bool, size: int) -> None:
    layout = random_layout(seed, size=size)
    mod = drafter_mask(layout, window, causal)
    assert torch.equal(dense(mod, 2, layout.queries, layout.keys), reference(layout, window, causal))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("window", "causal"), [(None, False), (5, True)])
def test_flex_mask_equals_dense(seed: int, window: int | None, causal: bool) -> None:
    layout = random_layout(seed, length=40, blocks=7)
    mod = drafter_mask(layout, window, causal)
    block_mask = flex(mod, 2, layout.queries, layout.keys, tile=16)
    rule = dense(mod, 2, layout.queries, layout.keys)
    tiles = block_mask.to_dense()  # 1 where a tile holds anything
    for row in range(2):
        for i in range(tiles.shape[2]):
            for j in range(tiles.shape[3]):
                cell = rule[row, 0, 16 * i : 16 * i + 16, 16 * j : 16 * j + 16]
                assert bool(tiles[row, 0, i, j]) == bool(cell.any())
    query, key = torch.meshgrid(torch.arange(layout.queries), torch.arange(layout.keys), indexing="ij")
    for row in range(2):
        elements = block_mask.mask_mod(torch.tensor(row), torch.tensor(0), query, key)
        assert torch.equal(elements, rule[row, 0])


def test_packed_document_sees_only_itself() -> None:
    documents = torch.tensor([[0, 0, 1, 1, -1]])
    assert draw(causal_in_document(documents), 5, 5) == "#....\n##...\n..#..\n..##.\n....#"


def test_drawing() -> None:
    layout = Layout(
        torch.tensor([[2]]),
        torch.tensor([[True]]),
        torch.zeros(1, 4, dtype=torch.long),
        torch.arange(4)[None],
        2,
    )
    assert draw(drafter_mask(layout), 2, 6, context=4) == "##..|##\n##..|##"
