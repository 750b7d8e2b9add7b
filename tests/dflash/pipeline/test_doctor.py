"""What the doctor says of a configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from models import drafter_for, tiny_target

from dflash import config
from dflash.cli import main
from dflash.errors import UserError
from dflash.pipeline import memory
from dflash.pipeline.dry_run import dry_run


def test_a_configuration_is_tried_and_nothing_is_left(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(project.rglob("*"))
    threads = ["--set", "pipeline.mode=threads", "--set", 'pipeline.drafters=["cpu","cpu"]']
    assert main(["doctor", str(project / "run.toml"), "--json", *threads]) == 0
    values = json.loads(capsys.readouterr().out)
    assert sorted(project.rglob("*")) == before
    assert (values["mode"], values["drafters"]) == ("threads", ["cpu", "cpu"])
    assert values["fix for threads"].startswith("thread_local_fx (holds in ")
    assert 0 < values["loss"] < 20
    assert values["memory"]["cpu"]["target"] > 0


def test_a_configuration_that_cannot_train_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(project / "run.toml"), "--set", "target.device=warp:1"]) == 2
    assert "dflash doctor: device 'warp:1' can't be used" in capsys.readouterr().err
    assert main(["doctor", "--set", "train.lr=1"]) == 2


def test_memory_is_counted_by_device() -> None:
    drafter = drafter_for(tiny_target())
    count = sum(p.numel() for p in drafter.parameters())
    load = memory.Load(2, 24, 3, 2, final=False, ema=True, bfloat16=True, recomputed=False, depth=2)
    assert memory.feature_bytes(drafter.config, load) == 2 * 32 * 2
    found = memory.estimate(drafter, 1000, load, "cuda:0", ("cuda:0", "cuda:1"), ("cuda:1", "cuda:2"))
    assert found["cuda:0"]["drafter, gradient, AdamW"] == 16 * count
    assert found["cuda:0"]["averaged weights"] == 4 * count
    assert [found[d].get("target") for d in ("cuda:0", "cuda:1", "cuda:2")] == [1000, 1000, None]
    assert found["cuda:2"]["replicas"] == 8 * count
    assert found["cuda:2"]["features waiting"] == 3 * 48 * 128


def test_memory_of_a_rank_is_less_where_state_is_sharded() -> None:
    drafter = drafter_for(tiny_target())
    count = sum(p.numel() for p in drafter.parameters())
    load = memory.Load(2, 24, 3, 2, final=False, ema=True, bfloat16=False, recomputed=False, depth=1)
    target = memory.TargetBytes(1000, 800, 100)
    whole = memory.estimate_rank(drafter, target, load, 4, False, False)
    assert (whole["drafter, gradient, AdamW"], whole["averaged weights"]) == (16 * count, 4 * count)
    assert whole["target"] == 1000
    shared = memory.estimate_rank(drafter, target, load, 4, True, True)
    assert (shared["drafter, gradient, AdamW"], shared["averaged weights"]) == (4 * count, count)
    assert shared["target"] == 200 + 200 + 200, "what is in no layer, a quarter of the layers, two whole ones"
    layer = sum(p.numel() for p in drafter.layers[0].parameters())
    assert shared["what is whole for a time"] == 4 * (3 * layer + 2 * (count - 2 * layer))


def test_ranks_of_a_sharded_run(project: Path) -> None:
    changes = ["pipeline.mode=processes", "pipeline.drafter=sharded", "pipeline.target=sharded"]
    settings = config.load(project / "run.toml", changes)
    values = dry_run(settings, lambda line: None, 2)
    parts = values["memory"]["each rank (cpu)"]
    assert 0 < parts["drafter, gradient, AdamW"] < 16 * parts["averaged weights"]
    assert values["first step"].startswith("not run: it takes all ranks")
    for ranks, words in (
        (None, "pipeline.drafter sharded: say over how many ranks with --ranks N"),
        (1, "pipeline.drafter sharded: needs at least 2 ranks, not 1"),
        (3, "train.accumulation 2: 3 ranks need at least 3 micro-batches a step"),
    ):
        with pytest.raises(UserError, match=words):
            dry_run(settings, lambda line: None, ranks)
    with pytest.raises(UserError, match=r'--ranks is for pipeline.mode = "processes"; the mode is "one"'):
        dry_run(config.load(project / "run.toml"), lambda line: None, 2)
