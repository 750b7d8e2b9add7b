"""Learning works end to end: a repeated text is drafted almost without a miss, and only with its features."""

from __future__ import annotations

from pathlib import Path

import torch
from data import whole, write_texts
from models import drafter_for, tiny_target
from torch.nn import functional as F

from dflash.data import Batches
from dflash.evaluate import evaluate
from dflash.loss import Objective
from dflash.target import TinyTarget
from dflash.train import Settings, Trainer


def learned_target(text: torch.Tensor) -> TinyTarget:
    """A target that continues `text` by heart, from any place in it."""
    target = tiny_target(std=0.05)
    target.requires_grad_(True)
    optimizer = torch.optim.AdamW(target.parameters(), lr=5e-3)
    for _ in range(300):
        loss = F.cross_entropy(
            target.head(target.read(text[:, :-1], ()).final).flatten(0, 1), text[:, 1:].flatten()
        )
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert float(loss.detach()) < 0.1
    return target.freeze()


def test_overfit_reaches_nearly_the_block_and_needs_features(tmp_path: Path) -> None:
    g = torch.Generator().manual_seed(0)
    # Eight texts over the same few tokens: what comes next is decided by what came before, not by the anchor.
    texts = torch.randint(0, 6, (8, 40), generator=g)
    target = learned_target(texts)
    block = 6
    drafter = drafter_for(target, block_size=block)
    batches = Batches(write_texts(tmp_path / "d", texts.tolist()), whole, rows=8, length=40, block_size=block)
    settings = Settings(steps=400, lr=4e-3, anchors=16, checkpoint_every=None)
    Trainer(settings, drafter, target, batches, Objective(), tmp_path / "out").run()
    prompts = [t[:8] for t in texts.tolist()]
    report = evaluate(target, drafter, prompts, 31, compare=True)
    blind = evaluate(target, drafter, prompts, 31, zero_features=True)
    assert [r.tokens for r in report.generations] == texts[:, 8:39].tolist(), "the target knows its texts"
    assert report.lossless
    assert report.tau > 0.9 * block
    assert blind.tau < report.tau / 2
