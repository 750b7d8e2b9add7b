"""Checkpoints: directories that are whole or not there, in safetensors and JSON.

`step-00000200/` holds the drafter as the community's loaders read it (`config.json`, `model.safetensors`),
beside it the optimizer, the average of the weights and `state.json`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from dflash.errors import UserError
from dflash.export import write_weights
from dflash.model import Drafter, DrafterConfig
from dflash.train.ema import Ema
from dflash.train.shards import fill, like

FORMAT = 1


@dataclass(frozen=True)
class Tensors:
    """What a checkpoint keeps, whole: a run that is spread over ranks gathers it first."""

    weights: dict[str, Tensor]
    moments: dict[str, Tensor]  # as `optimizer_tensors` names them
    averaged: dict[str, Tensor] | None


def collect(
    drafter: Drafter, optimizer: torch.optim.Optimizer, ema: Ema | None,
    take: Callable[[Tensor], Tensor] = lambda t: t.detach(),
) -> Tensors:  # fmt: skip
    """A run's tensors, each through `take`, in an order that is the same on every rank."""
    averaged = None if ema is None else {n: take(t) for n, t in ema.weights.items()}
    weights = {n: take(t) for n, t in drafter.state_dict().items()}
    return Tensors(weights, optimizer_tensors(drafter, optimizer, take), averaged)


def save(
    root: Path, step: int, config: DrafterConfig, tensors: Tensors, state: dict[str, Any], keep: int = 2
) -> Path:
    """Write `step-…` under `root` and drop all but the `keep` newest.

    Everything is written beside and renamed at the end, so a kill leaves either the old state or the
    new one. Raises UserError when the disk is full; earlier checkpoints are untouched.
    """
    final, draft = root / f"step-{step:08d}", root / f".writing-{step:08d}"
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir(parents=True)
        write_weights(config, tensors.weights, draft, tensors.weights["fc.weight"].dtype)
        save_file(tensors.moments, draft / "optimizer.safetensors")
        if tensors.averaged is not None:
            save_file(tensors.averaged, draft / "ema.safetensors")
        entries = {"format": FORMAT, "step": step, "ema": tensors.averaged is not None, **state}
        (draft / "state.json").write_text(json.dumps(entries))
        for path in draft.iterdir():
            _flush(path)
        if final.exists():  # the same step saved before: same content
            shutil.rmtree(final)
        os.rename(draft, final)
        _flush(root)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(draft, ignore_errors=True)
        full = getattr(error, "errno", None) == errno.ENOSPC or "No space left" in str(error)
        why = "the disk is full" if full else str(error)
        raise UserError(
            f"{final}: the checkpoint can't be written ({why}); earlier ones are whole: "
            "make room, then --resume"
        ) from None
    for old in find(root)[:-keep]:
        shutil.rmtree(old)
    return final


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    with contextlib.suppress(OSError):  # some file systems can't sync a directory
        os.fsync(handle)
    os.close(handle)


def find(root: Path) -> list[Path]:
    """Whole checkpoints under `root`, oldest first."""
    return sorted(p for p in root.glob("step-*") if (p / "state.json").is_file())


def read_state(path: Path) -> dict[str, Any]:
    """`state.json`; raises UserError if it is missing or of another format."""
    try:
        state = json.loads((path / "state.json").read_text())
    except (OSError, ValueError):
        raise UserError(f"{path}: not a training checkpoint (no readable state.json)") from None
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise UserError(
            f"{path}: a checkpoint of another format than {FORMAT}: use the version that wrote it"
        )
    return state


def restore(
    path: Path, drafter: Drafter, optimizer: torch.optim.Optimizer, ema: Ema | None
) -> dict[str, Any]:
    """Put a checkpoint's tensors in place and return its state; raises UserError if it doesn't fit."""
    state = read_state(path)
    if state["ema"] != (ema is not None):
        raise UserError(
            f"{path}: was trained {'with' if state['ema'] else 'without'} an average of the weights"
        )
    try:
        load_weights(drafter, Stored(path / "model.safetensors"), path)
        load_optimizer(drafter, optimizer, Stored(path / "optimizer.safetensors"))
        if ema is not None:
            averaged = Stored(path / "ema.safetensors")
            for name, tensor in ema.weights.items():
                fill(tensor, averaged[name])
    except (OSError, SafetensorError, KeyError) as error:
        raise UserError(f"{path}: can't be read whole ({error}): resume from an older checkpoint") from None
    return state


class Stored(Mapping[str, Tensor]):
    """A file's tensors, read one at a time: ranks that keep some rows of each never hold them all."""

    def __init__(self, path: Path) -> None:
        self.file = safe_open(path, framework="pt")
        self.names = list(self.file.keys())

    def __getitem__(self, name: str) -> Tensor:
        if name not in self.names:
            raise KeyError(name)
        return self.file.get_tensor(name)

    def __contains__(self, name: object) -> bool:  # without reading it, as a mapping would
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def load_weights(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Strictly: every name and shape; raises UserError naming the first that doesn't fit."""
    own = dict(model.state_dict())
    for name in sorted({*own, *tensors}):
        if name not in tensors:
            raise UserError(f"{path}: lacks the tensor {name}")
        if name not in own:
            raise UserError(f"{path}: has a tensor {name} that the drafter doesn't know")
        shape = tensors[name].shape
        if own[name].shape != shape:
            shapes = f"{list(shape)}, not {list(own[name].shape)}"
            raise UserError(f"{path}: {name} has the shape {shapes}: another configuration wrote it")
    for name, tensor in own.items():
        fill(tensor, tensors[name])


def _named(drafter: Drafter, optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, nn.Parameter]]:
    known = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return ((n, p) for n, p in drafter.named_parameters() if id(p) in known)


def optimizer_tensors(
    drafter: Drafter, optimizer: torch.optim.Optimizer, take: Callable[[Tensor], Tensor]
) -> dict[str, Tensor]:
    """AdamW's moments and counts by parameter name."""
    return {
        f"{key}.{name}": take(value)
        for name, parameter in _named(drafter, optimizer)
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def load_optimizer(
    drafter: Drafter, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]
) -> None:
    for name, parameter in _named(drafter, optimizer):
        entries = {
            k: tensors[f"{k}.{name}"] for k in ("step", "exp_avg", "exp_avg_sq") if f"{k}.{name}" in tensors
        }
        if entries:
            moved = {k: v if k == "step" else like(parameter, v) for k, v in entries.items()}
            optimizer.state[parameter] = moved
