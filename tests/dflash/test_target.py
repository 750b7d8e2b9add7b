from __future__ import annotations

from pathlib import Path

import pytest
import torch
from models import save_family, tiny_target

from dflash import target as targets
from dflash.errors import UserError

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("family", ["qwen3", "llama", "gpt_neox", "gemma2"])
def test_features_are_hidden_states_one_up(family: str, tmp_path: Path) -> None:
    path = save_family(family, tmp_path)
    target = targets.load(path, "float32")
    ids = torch.randint(0, 50, (2, 9), generator=torch.Generator().manual_seed(0))
    out = target.read(ids, (1, 4))
    theirs = target.model(ids, output_hidden_states=True, use_cache=False)
    assert torch.equal(out.features, torch.cat([theirs.hidden_states[2], theirs.hidden_states[5]], -1))
    torch.testing.assert_close(target.head(out.final), theirs.logits)
    assert not any(p.requires_grad for p in target.model.parameters())


@pytest.mark.parametrize("family", ["qwen3", "gpt_neox"])
def test_packed_documents_read_as_if_alone(family: str, tmp_path: Path) -> None:
    target = targets.load(save_family(family, tmp_path), "float64")
    ids = torch.randint(0, 50, (1, 12), generator=torch.Generator().manual_seed(0))
    packed = target.read(ids, (1, 3), torch.tensor([[0] * 5 + [1] * 6 + [-1]]))
    for part in (slice(0, 5), slice(5, 11)):
        alone = target.read(ids[:, part], (1, 3))
        torch.testing.assert_close(packed.features[:, part], alone.features)
        torch.testing.assert_close(packed.final[:, part], alone.final)


def test_tiny_target_is_a_qwen3_checkpoint(tmp_path: Path) -> None:
    tiny = tiny_target(dtype=torch.float64)
    tiny.save(tmp_path)
    loaded = targets.load(tmp_path, "float64")
    assert type(loaded.model).__name__ == "Qwen3ForCausalLM"
    ids = torch.randint(0, 50, (2, 9), generator=torch.Generator().manual_seed(0))
    documents = torch.tensor([[0] * 9, [0] * 4 + [1] * 5])
    for docs in (None, documents):
        ours, theirs = tiny.read(ids, (1, 3), docs), loaded.read(ids, (1, 3), docs)
        # transformers norms in float32 whatever the weights are
        torch.testing.assert_close(ours.features, theirs.features, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(tiny.head(ours.final), loaded.head(theirs.final), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", ["tiny", "qwen3"])
def test_cache_with_holes_reads_as_a_fresh_pass(kind: str, tmp_path: Path) -> None:
    target = tiny_target(dtype=torch.float64)
    if kind == "qwen3":
        target.save(tmp_path)
        target = targets.load(tmp_path, "float64")
    g = torch.Generator().manual_seed(3)
    rows: list[list[int]] = [[], []]
    cache = target.start(2)
    for counts in ([3, 5], [0, 2], [4, 1], [1, 0], [2, 4]):
        ids = torch.randint(0, 50, (2, 5), generator=g)
        out = target.advance(cache, ids, torch.ones(2, 5, dtype=torch.bool), (1, 3))
        for row in range(2):
            fresh = target.read(torch.tensor([rows[row] + ids[row].tolist()]), (1, 3))
            torch.testing.assert_close(out.final[row], fresh.final[0, len(rows[row]) :])
            rows[row] += ids[row, : counts[row]].tolist()
        cache.keep(torch.tensor(counts))
    assert cache.lengths.tolist() == [len(r) for r in rows]


def test_bad_targets_say_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        targets.load(tmp_path / "nowhere")
    with pytest.raises(UserError, match="dtype 'int4' is unknown"):
        targets.load(tmp_path, "int4")
    target = targets.load(save_family("llama", tmp_path / "llama"), "float32")
    for ids in ((5,), (-1,), (1, 9)):
        with pytest.raises(ValueError, match=r"must lie in 0\.\.4"):
            target.read(torch.zeros(1, 3, dtype=torch.long), ids)
