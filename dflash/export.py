"""The community's drafter format: what SGLang, vLLM and the `dflash` package load.

`config.json` with `architectures: ["DFlashDraftModel"]` and the Qwen3 fields, `model.safetensors` with the
parameter names of `dflash.model`. Layer ids are always written: loaders that have to guess them guess wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from dflash.errors import UserError
from dflash.model import Drafter, DrafterConfig

ARCHITECTURE = "DFlashDraftModel"
# Fields of the file that change what the drafter computes and that this drafter doesn't have.
NEUTRAL = {"input_embedding_scale": 1.0, "output_multiplier": 1.0, "final_logit_softcapping": None}


def config_entries(config: DrafterConfig, dtype: torch.dtype) -> dict[str, Any]:
    """`config.json` of a drafter."""
    own = {f.name: getattr(config, f.name) for f in fields(config)}
    special = ("target_layer_ids", "mask_token_id", "causal", "rope_scaling", "layer_types")
    entries: dict[str, Any] = {k: v for k, v in own.items() if k not in special}
    entries |= {
        "architectures": [ARCHITECTURE],
        "auto_map": {"AutoModel": f"dflash.{ARCHITECTURE}"},
        "model_type": "qwen3",
        "hidden_act": "silu",
        "attention_dropout": 0.0,
        "tie_word_embeddings": False,
        "use_sliding_window": config.sliding_window is not None,
        "dtype": str(dtype).removeprefix("torch."),
        "layer_types": list(config.layer_types),
        "dflash_config": {
            "block_size": config.block_size,
            "mask_token_id": config.mask_token_id,
            "target_layer_ids": list(config.target_layer_ids),
        },
    }
    if config.rope_scaling is not None:
        entries["rope_scaling"] = dict(config.rope_scaling)
    if config.causal is not None:
        entries["is_causal"] = config.causal
    return entries


def read_config(path: Path) -> DrafterConfig:
    """A drafter's configuration from a directory; raises UserError for files of another kind."""
    file = path / "config.json"
    try:
        entries = json.loads(file.read_text())
    except OSError:
        raise UserError(f"{path}: no drafter there (config.json is missing)") from None
    except ValueError:
        raise UserError(f"{file}: not JSON") from None
    if entries.get("architectures") != [ARCHITECTURE]:
        raise UserError(f"{file}: architectures is {entries.get('architectures')}, not a {ARCHITECTURE}")
    special = entries.get("dflash_config") or {}
    for key, neutral in NEUTRAL.items():
        value = special.get(key, entries.get(key, neutral))
        if value != neutral:
            raise UserError(f"{file}: {key} = {value} is not supported")
    values = {f.name: entries[f.name] for f in fields(DrafterConfig) if f.name in entries}
    values |= {k: special[k] for k in ("block_size", "mask_token_id", "target_layer_ids") if k in special}
    rope = entries.get("rope_parameters") or {}  # transformers 5 writes both in one entry
    values.setdefault("rope_theta", rope.get("rope_theta", DrafterConfig.rope_theta))
    if rope.get("rope_type", "default") != "default":
        values.setdefault("rope_scaling", rope)
    if "is_causal" in entries:
        values["causal"] = entries["is_causal"]
    try:
        return DrafterConfig(**values)
    except (TypeError, ValueError) as error:
        raise UserError(f"{file}: {error}") from None


def write_drafter(drafter: Drafter, path: Path, dtype: torch.dtype | None = None) -> None:
    """Write the drafter into the directory `path`, in `dtype` if given."""
    write_weights(drafter.config, drafter.state_dict(), path, dtype or drafter.fc.weight.dtype)


def write_weights(config: DrafterConfig, weights: Mapping[str, Tensor], path: Path, dtype: torch.dtype) -> None:
    """The same of a drafter's weights by name."""
    path.mkdir(parents=True, exist_ok=True)
    entries = config_entries(config, dtype)
    (path / "config.json").write_text(json.dumps(entries, indent=2) + "\n")
    tensors = {n: t.detach().to("cpu", dtype).contiguous() for n, t in weights.items()}
    save_file(tensors, path / "model.safetensors", metadata={"format": "pt"})


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors of a directory, sharded or not; raises UserError if there are none."""
    files = sorted(path.glob("model*.safetensors"))
    if not files:
        raise UserError(f"{path}: no model.safetensors there")
    found: dict[str, Tensor] = {}
    for file in files:
        try:
            found |= load_file(file)
        except (OSError, SafetensorError) as error:
            raise UserError(f"{file}: can't be read ({error})") from None
    return found


def read_drafter(path: str | Path) -> Drafter:
    """A drafter from an export or a training checkpoint; raises UserError if anything doesn't fit."""
    path = Path(path)
    drafter, tensors = Drafter(read_config(path)), read_tensors(path)
    own = drafter.state_dict()
    missing, foreign = sorted(own.keys() - tensors.keys()), sorted(tensors.keys() - own.keys())
    if missing or foreign:
        raise UserError(f"{path}: tensors missing: {missing[:3] or 'none'}, unknown: {foreign[:3] or 'none'}")
    for name, tensor in own.items():
        if tensors[name].shape != tensor.shape:
            raise UserError(
                f"{path}: {name} is {list(tensors[name].shape)}, config.json says {list(tensor.shape)}"
            )
    drafter = drafter.to(tensors["fc.weight"].dtype)
    drafter.load_state_dict(tensors)
    return drafter


def verify(export: Path, drafter: Drafter) -> dict[str, Any]:
    """Compare an export with the weights it was made from.

    `missing` and `unexpected` names, whether configurations agree, and the largest absolute difference
    over all tensors (0 when nothing was cast).
    """
    tensors, own = read_tensors(export), drafter.state_dict()
    shared = own.keys() & tensors.keys()
    worst = max(
        (float((own[n].float().cpu() - tensors[n].float()).abs().max()) for n in shared), default=float("nan")
    )
    return {
        "missing": sorted(own.keys() - tensors.keys()),
        "unexpected": sorted(tensors.keys() - own.keys()),
        "same_config": read_config(export) == drafter.config,
        "largest_difference": worst,
    }
