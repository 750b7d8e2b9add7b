"""Drafter and target sharded over ranks of torchrun: the same curve, weights and evaluation, also after a loss."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from safetensors.torch import load_file
from torchrun import moments, outcome, same, torchrun

from dflash.cli import main

BOTH = ("pipeline.drafter=sharded", "pipeline.target=sharded")
pytestmark = pytest.mark.slow


def alone(project: Path, *changes: str) -> None:
    assert main(["train", str(project / "run.toml"), *(part for c in changes for part in ("--set", c))]) == 0


def test_both_sharded_lose_a_rank_and_end_as_one_device(project: Path) -> None:
    """With validation, which all ranks run; two layers, so that gradients meet between them."""
    prompts = [json.dumps({"text": f"some text number {i}"}) + "\n" for i in range(3)]
    (project / "prompts.jsonl").write_text("".join(prompts))
    changes = [f'data.validation=["{project}/prompts.jsonl"]', "output.validate_every=3", "drafter.num_hidden_layers=2"]
    changes += ["output.validation_tokens=8"]
    alone(project, *changes)
    done = torchrun(project, 2, [[1, "gradients", 3]], f"output.directory={project}/two", *BOTH, *changes)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "resumed at step 2" in done.stderr, "a rank was lost in step 4, after the checkpoint of step 2"
    one, two = outcome(project / "one"), outcome(project / "two")
    assert same(two, one)
    assert sum(entry["kind"] == "validate" for entry in one[0]) == 3
    exports = [load_file(project / name / "drafter" / "model.safetensors") for name in ("one", "two")]
    assert exports[0].keys() == exports[1].keys()
    assert all(bool((exports[0][k] == exports[1][k]).all()) for k in exports[0])


@pytest.mark.parametrize("seed", range(3))
def test_ranks_lost_at_random_moments(seed: int, project: Path) -> None:
    alone(project)
    done = torchrun(project, 2, moments(random.Random(seed)), f"output.directory={project}/two", BOTH[0])
    assert done.returncode == 0, done.stderr[-3000:]
    assert same(outcome(project / "two"), outcome(project / "one"))


@pytest.mark.parametrize("shards", [BOTH, BOTH[:1], BOTH[1:]])
def test_three_ranks_with_a_rest_stay_within_rounding(shards: tuple[str, ...], project: Path) -> None:
    """Four micro-batches on three ranks, and rows that three don't divide."""
    changes = ["train.accumulation=4", "drafter.num_hidden_layers=2"]
    alone(project, *changes)
    done = torchrun(project, 3, [], f"output.directory={project}/three", *changes, *shards)
    assert done.returncode == 0, done.stderr[-3000:]
    one, three = outcome(project / "one"), outcome(project / "three")
    for a, b in zip(one[0], three[0], strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-5)
        assert a["blocks"] == b["blocks"]


@pytest.mark.parametrize("checkpointing", ["none", "reentrant", "non_reentrant"])
def test_compiled_attention(checkpointing: str, project: Path) -> None:
    changes = ["train.attention=flex", f"train.checkpointing={checkpointing}", "drafter.num_hidden_layers=2"]
    alone(project, *changes)
    done = torchrun(project, 2, [], f"output.directory={project}/two", *changes, BOTH[0])
    assert done.returncode == 0, done.stderr[-3000:]
    assert same(outcome(project / "two"), outcome(project / "one"))
