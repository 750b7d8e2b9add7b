"""A target on disk, texts and a configuration of six steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from models import tiny_target

TOML = """
[target]
path = "{root}/target"
tokenizer = "bytes"
dtype = "float32"
[drafter]
num_hidden_layers = 1
block_size = 4
features = 2
mask_token_id = 257
[data]
train = ["{root}/train.jsonl"]
length = 32
rows = 2
[train]
steps = 6
anchors = 4
accumulation = 2
ema = 0.9
[output]
directory = "{root}/one"
log_every = 1
checkpoint_every = 2
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    pytest.importorskip("transformers")
    tiny_target(vocab_size=258).save(tmp_path / "target")
    texts = [json.dumps({"text": f"some text number {i} " * 3}) + "\n" for i in range(9)]
    (tmp_path / "train.jsonl").write_text("".join(texts))
    (tmp_path / "run.toml").write_text(TOML.format(root=tmp_path))
    return tmp_path
