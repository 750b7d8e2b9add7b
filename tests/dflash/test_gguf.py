"""A target in a GGUF file is the model that the file was made from."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from models import save_family

from dflash import target as targets
from dflash.errors import UserError

pytest.importorskip("transformers")
gguf = pytest.importorskip("gguf")

NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_gguf(model: torch.nn.Module, path: Path) -> None:
    """A Llama model in float32. llama.cpp turns pairs that lie side by side, hence the other order of rows."""
    c = model.config
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(c.max_position_embeddings)
    writer.add_embedding_length(c.hidden_size)
    writer.add_block_count(c.num_hidden_layers)
    writer.add_feed_forward_length(c.intermediate_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_head_count_kv(c.num_key_value_heads)
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    writer.add_rope_dimension_count(c.head_dim)
    writer.add_rope_freq_base(c.rope_parameters["rope_theta"])
    writer.add_vocab_size(c.vocab_size)
    for name, value in model.state_dict().items():
        if name.startswith("model.layers."):
            _, _, number, rest = name.split(".", 3)
            inner = rest.removesuffix(".weight")
            if inner in ("self_attn.q_proj", "self_attn.k_proj"):
                value = value.unflatten(0, (-1, 2, c.head_dim // 2)).transpose(1, 2).flatten(0, 2)
            name = f"blk.{number}.{NAMES[inner]}.weight"
        else:
            name = name.replace("model.embed_tokens", "token_embd").replace("model.norm", "output_norm")
            name = name.replace("lm_head", "output")
        writer.add_tensor(name, value.contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_gguf_target_is_the_model_it_was_made_from(tmp_path: Path) -> None:
    plain = targets.load(save_family("llama", tmp_path / "plain"), "float32")
    (tmp_path / "packed").mkdir()
    write_gguf(plain.model, tmp_path / "packed" / "tiny.gguf")
    loaded = targets.load(tmp_path / "packed", "float32", gguf_file="tiny.gguf")
    ids = torch.randint(0, 50, (2, 9), generator=torch.Generator().manual_seed(0))
    ours, theirs = loaded.read(ids, (1, 3)), plain.read(ids, (1, 3))
    torch.testing.assert_close(ours.features, theirs.features, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(loaded.head(ours.final), plain.head(theirs.final), atol=1e-5, rtol=1e-5)


def test_bad_gguf_files_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "torn.gguf").write_bytes(b"GGUF\x03\0\0\0")
    for name in ("none.gguf", "torn.gguf"):
        with pytest.raises(UserError, match="can't be loaded as a causal language model"):
            targets.load(tmp_path, "float32", gguf_file=name)
