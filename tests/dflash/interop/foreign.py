"""Runs under the PyPI package: load an export, compute one block, decode prompts. See `against_pypi.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

import dflash
from dflash import DFlashDraftModel

torch.set_num_threads(1)
folder = Path(sys.argv[1])
request = json.loads((folder / "request.json").read_text())
model, info = DFlashDraftModel.from_pretrained(
    folder / "drafter", output_loading_info=True, dtype=torch.float32
)
model.eval()
target = AutoModelForCausalLM.from_pretrained(folder / "target", dtype=torch.float32).eval()
inputs = load_file(folder / "inputs.safetensors")
with torch.no_grad():
    states = model(
        target_hidden=inputs["features"], noise_embedding=inputs["block"], position_ids=inputs["positions"]
    )
save_file({"states": states.contiguous()}, folder / "states.safetensors")
tokens = []
for prompt in request["prompts"]:
    out = model.spec_generate(target, torch.tensor([prompt]), request["max_new_tokens"], stop_token_ids=None)
    tokens.append(out[0, len(prompt) :].tolist())
if request.get("save"):
    model.save_pretrained(folder / request["save"])
answer = {
    "package": dflash.__file__,
    "missing": sorted(info["missing_keys"]),
    "unexpected": sorted(info["unexpected_keys"]),
    "tokens": tokens,
}
print(json.dumps(answer))
