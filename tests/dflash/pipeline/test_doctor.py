"""What the doctor says of a configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from models import drafter_for, tiny_target

from dflash.cli import main
from dflash.pipeline import memory


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
