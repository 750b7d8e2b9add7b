"""A target whose layers are spread over two ranks says what it says whole."""

from __future__ import annotations

from pathlib import Path

import forked
import pytest
import torch
from models import save_family

from dflash.pipeline.ranks import connected, place
from dflash.train.shards import local

pytest.importorskip("transformers")
FAMILIES = ("qwen3", "llama", "gpt_neox", "gemma2")
pytestmark = pytest.mark.slow


def compare(root: Path) -> None:
    from dflash.pipeline import sharded_target
    from dflash.target.huggingface import HuggingFaceTarget

    torch.set_num_threads(1)
    device = torch.device("cpu")
    ids = torch.randint(0, 48, (2, 20), generator=torch.Generator().manual_seed(place()[0]))  # each its own
    documents = torch.tensor([[0] * 8 + [1] * 12, [0] * 20])
    with connected(device):
        for family in FAMILIES:
            whole = HuggingFaceTarget.load(root / family, "float32", device)
            spread = sharded_target.load(root / family, "float32", device)
            assert spread.sharded
            held = sum(local(p).numel() for p in spread.layers.parameters())
            assert held * 2 == sum(p.numel() for p in whole.layers.parameters())
            for given in (None, documents):
                one, two = whole.read(ids, (1, 3), given), spread.read(ids, (1, 3), given)
                assert torch.equal(one.features, two.features), family
                assert torch.equal(one.final, two.final), family
            found = []
            for target in (whole, spread):
                cache = target.start(1)
                for part in (ids[:1, :7], ids[:1, 7:9]):
                    output = target.advance(cache, part, torch.ones_like(part, dtype=torch.bool), (1,))
                    cache.keep(torch.tensor([part.shape[1]]))
                found.append(target.head(output.final))
            assert torch.equal(*found), family
            assert torch.equal(whole.embed(ids), spread.embed(ids)), family


def test_every_family_reads_the_same(tmp_path: Path) -> None:
    for family in FAMILIES:
        save_family(family, tmp_path / family)
    forked.start(2, "test_sharded_target", "compare", tmp_path)
