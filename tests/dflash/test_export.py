from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from models import drafter_for, tiny_target
from safetensors.torch import load_file, save_file

from dflash.errors import UserError
from dflash.export import read_config, read_drafter, verify, write_drafter
from dflash.rope import frequencies

SLIDING = {"layer_types": ("full_attention", "sliding_attention"), "sliding_window": 5, "causal": False}


@pytest.mark.parametrize("changes", [{}, SLIDING, {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}])
def test_export_reads_back_the_same(changes: dict, tmp_path: Path) -> None:
    drafter = drafter_for(tiny_target(), **changes)
    write_drafter(drafter, tmp_path)
    again = read_drafter(tmp_path)
    assert again.config == drafter.config
    assert verify(tmp_path, drafter) == {
        "missing": [],
        "unexpected": [],
        "same_config": True,
        "largest_difference": 0.0,
    }
    write_drafter(drafter, tmp_path / "half", torch.bfloat16)
    assert 0 < verify(tmp_path / "half", drafter)["largest_difference"] < 1e-3


def test_file_format(tmp_path: Path) -> None:
    write_drafter(drafter_for(tiny_target()), tmp_path)
    entries = json.loads((tmp_path / "config.json").read_text())
    assert entries["architectures"] == ["DFlashDraftModel"]
    assert entries["auto_map"] == {"AutoModel": "dflash.DFlashDraftModel"}
    assert entries["model_type"] == "qwen3"
    assert entries["dflash_config"] == {"block_size": 4, "mask_token_id": 49, "target_layer_ids": [1, 3]}
    assert entries["num_target_layers"] == 6
    layer = [
        f"layers.0.{n}.weight"
        for n in (
            "input_layernorm",
            "post_attention_layernorm",
            "self_attn.q_proj",
            "self_attn.k_proj",
            "self_attn.v_proj",
            "self_attn.o_proj",
            "self_attn.q_norm",
            "self_attn.k_norm",
            "mlp.gate_proj",
            "mlp.up_proj",
            "mlp.down_proj",
        )
    ]
    names = {*layer, *(n.replace("layers.0", "layers.1") for n in layer)}
    assert set(load_file(tmp_path / "model.safetensors")) == {
        *names,
        "fc.weight",
        "hidden_norm.weight",
        "norm.weight",
    }


def test_verify_sees_a_changed_weight(tmp_path: Path) -> None:
    drafter = drafter_for(tiny_target())
    write_drafter(drafter, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["norm.weight"][0] += 0.5
    tensors["extra"] = tensors.pop("fc.weight")
    save_file(tensors, tmp_path / "model.safetensors")
    result = verify(tmp_path, drafter)
    assert (result["missing"], result["unexpected"]) == (["fc.weight"], ["extra"])
    assert result["largest_difference"] == pytest.approx(0.5)
    with pytest.raises(UserError, match=r"tensors missing: \['fc.weight'\], unknown: \['extra'\]"):
        read_drafter(tmp_path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"architectures": ["LlamaForCausalLM"]}, "not a DFlashDraftModel"),
        ({"output_multiplier": 2.0}, "output_multiplier = 2.0 is not supported"),
        ({"rope_scaling": {"rope_type": "longrope"}}, "'longrope' is not supported"),
        ({"num_target_layers": 4}, "must ascend within"),
    ],
)
def test_foreign_files_are_refused(change: dict, complaint: str, tmp_path: Path) -> None:
    write_drafter(drafter_for(tiny_target()), tmp_path)
    entries = json.loads((tmp_path / "config.json").read_text()) | change
    (tmp_path / "config.json").write_text(json.dumps(entries))
    with pytest.raises(UserError, match=complaint):
        read_config(tmp_path)
    with pytest.raises(UserError, match=r"config\.json is missing"):
        read_config(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "scaling",
    [
        None,
        {"rope_type": "linear", "factor": 4.0},
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 256,
        },
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 256},
    ],
    ids=lambda s: s and s["rope_type"],
)
def test_rotary_scaling_equals_transformers(scaling: dict | None) -> None:
    transformers = pytest.importorskip("transformers")
    from transformers.models.qwen3.modeling_qwen3 import Qwen3RotaryEmbedding

    parameters = {"rope_theta": 5e5, **(scaling or {"rope_type": "default"})}
    config = transformers.Qwen3Config(head_dim=32, max_position_embeddings=1024, rope_parameters=parameters)
    theirs = Qwen3RotaryEmbedding(config)
    steps, factor = frequencies(32, 5e5, scaling, 1024)
    torch.testing.assert_close(steps, theirs.inv_freq)
    assert factor == pytest.approx(theirs.attention_scaling)
