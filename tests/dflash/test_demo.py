"""A shrunk demonstration: all stages run and the figures are those of its models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dflash import target as targets
from dflash.demo import DemoSettings, run
from dflash.export import read_drafter
from dflash.target import TinyConfig

SMALL = DemoSettings(
    target=TinyConfig(
        hidden_size=32, intermediate_size=48, num_attention_heads=2, num_key_value_heads=1, head_dim=16
    ),
    target_steps=6,
    drafter_steps=4,
    rows=2,
    length=24,
    anchors=3,
    cached_rows=8,
    prompts=3,
    prompt_bytes=8,
    new_bytes=8,
    validations=2,
)


def test_small_demo_writes_everything(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    lines: list[str] = []
    result = run(tmp_path, SMALL, lines.append)
    assert json.loads((tmp_path / "result.json").read_text()) == result
    keys = {
        "tau",
        "tau_t07",
        "tau_features_zeroed",
        "target_loss",
        "distinct_trigrams",
        "lossless",
        "speedup",
        "seconds",
    }
    assert keys <= set(result)
    assert result["lossless"] is True
    assert (tmp_path / "tau.png").stat().st_size > 5_000
    drafter = read_drafter(tmp_path / "drafter")
    assert drafter.config.hidden_size == targets.load(tmp_path / "target").hidden_size
    assert not (tmp_path / "features").exists()


@pytest.mark.slow
@pytest.mark.timeout(3600)  # minutes on a free core, most of an hour on one of many
def test_full_demo_passes_its_bar(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result["target_loss"] <= 1.9
    assert result["distinct_trigrams"] >= 0.6
    assert result["tau_t07"] >= 2.5
    assert result["tau_t07"] >= 1.8 * result["tau_features_zeroed"]
