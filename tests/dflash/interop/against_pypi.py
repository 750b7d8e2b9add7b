"""Exports against the package that defines their format, `dflash` on PyPI.

Both packages are imported as `dflash`, so the other one is installed into a folder of its own and runs in
processes that see that folder first. Not collected by default; run it by name:

    pytest tests/dflash/interop/against_pypi.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(Path(__file__).parents[1]))

from models import drafter_for, save_family, tiny_target

from dflash import attention
from dflash import target as targets
from dflash.decode import generate
from dflash.export import read_drafter, write_drafter
from dflash.masks import Layout
from dflash.model import Drafter

VERSION = "0.1.0"
SCRIPT = Path(__file__).with_name("foreign.py")
SLIDING = {"layer_types": ("full_attention", "sliding_attention"), "sliding_window": 6}
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "block of 7, three taps": {"block_size": 7, "target_layer_ids": (0, 2, 4)},
    "sliding window": SLIDING,
    "sliding window, both ways": {**SLIDING, "causal": False},
    "llama3 rotary scaling": {
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 16,
        },
    },
}


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the PyPI package and nothing else; torch and transformers are shared."""
    folder = tmp_path_factory.mktemp("pypi")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    subprocess.run([*command, f"dflash=={VERSION}"], check=True)
    return folder


def ask(package: Path, request: Path) -> dict[str, Any]:
    """Run the other package over a folder of inputs; it leaves `states.safetensors` and prints JSON."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(request)],
        env=environment,
        cwd=request,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert Path(answer["package"]).is_relative_to(package)
    return answer


def prompts(count: int) -> list[list[int]]:
    g = torch.Generator().manual_seed(4)
    lengths = torch.randint(1, 14, (count,), generator=g).tolist()
    return [torch.randint(0, 48, (n,), generator=g).tolist() for n in lengths]


@pytest.mark.parametrize("family", ["tiny", "llama"])
@pytest.mark.parametrize("case", CASES)
def test_loads_and_computes_and_decodes_alike(case: str, family: str, package: Path, tmp_path: Path) -> None:
    path = tmp_path / "target"
    if family == "tiny":
        tiny_target().save(path)
    else:
        save_family(family, path)
    target = targets.load(path, "float32")
    drafter = drafter_for(target, **CASES[case])
    write_drafter(drafter, tmp_path / "drafter")
    asked = prompts(12)
    ids = torch.randint(0, 48, (1, 19), generator=torch.Generator().manual_seed(1))
    inputs, ours = _block(target, drafter, ids)
    save_file(inputs, tmp_path / "inputs.safetensors")
    (tmp_path / "request.json").write_text(json.dumps({"prompts": asked, "max_new_tokens": 24}))

    answer = ask(package, tmp_path)
    assert answer["missing"] == []
    assert answer["unexpected"] == []
    theirs = load_file(tmp_path / "states.safetensors")["states"]
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    own = [row.tokens for row in generate(target, drafter, asked, 24)]
    assert answer["tokens"] == own


def test_a_wrong_layer_id_would_be_seen(package: Path, tmp_path: Path) -> None:
    """The comparison can fail: an export whose ids are one off gives other drafts, though the same tokens."""
    target = tiny_target()
    target.save(tmp_path / "target")
    drafter = drafter_for(target)
    write_drafter(drafter, tmp_path / "drafter")
    inputs, ours = _block(target, drafter, torch.arange(19)[None])
    shifted, _ = _block(target, drafter_for(target, target_layer_ids=(2, 4)), torch.arange(19)[None])
    save_file({**inputs, "features": shifted["features"]}, tmp_path / "inputs.safetensors")
    (tmp_path / "request.json").write_text(json.dumps({"prompts": [[1]], "max_new_tokens": 2}))
    ask(package, tmp_path)
    theirs = load_file(tmp_path / "states.safetensors")["states"]
    assert not torch.allclose(ours, theirs, atol=1e-3)


def test_their_export_can_be_imported(package: Path, tmp_path: Path) -> None:
    """A checkpoint that the other package saves trains on here."""
    target = tiny_target()
    target.save(tmp_path / "target")
    drafter = drafter_for(target)
    write_drafter(drafter, tmp_path / "drafter")
    inputs, _ = _block(target, drafter, torch.arange(19)[None])
    save_file(inputs, tmp_path / "inputs.safetensors")
    (tmp_path / "request.json").write_text(
        json.dumps({"prompts": [[1]], "max_new_tokens": 2, "save": "again"})
    )
    ask(package, tmp_path)
    again = read_drafter(tmp_path / "again")
    assert again.config.target_layer_ids == drafter.config.target_layer_ids
    assert again.config.rope_theta == drafter.config.rope_theta
    for name, tensor in drafter.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor)


def _block(target: Any, drafter: Drafter, ids: torch.Tensor) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Inputs of one draft after `ids`, and our states for it."""
    c = drafter.config
    length = ids.shape[1]
    features = target.read(ids, c.target_layer_ids).features
    block = target.embed(torch.tensor([[int(ids[0, -1]), *[c.mask_token_id] * (c.block_size - 1)]]))
    # The anchor is the token after the features.
    places = torch.arange(length + c.block_size)[None]
    documents = torch.zeros(1, length + 1, dtype=torch.long)
    padded = torch.cat((features, torch.zeros_like(features[:, :1])), 1)
    layout = Layout(
        torch.tensor([[length]]), torch.tensor([[True]]), documents, places[:, : length + 1], c.block_size
    )
    attend = attention.build("sdpa", c, layout)
    with torch.no_grad():
        states = drafter(block, padded, layout.query_positions(), layout.positions, attend)
    return {"features": features, "block": block.contiguous(), "positions": places}, states
