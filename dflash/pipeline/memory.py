"""How many bytes a training takes, device by device, before anything is allocated."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from dflash.loss.chunked import CHUNK_BYTES
from dflash.model import Drafter, DrafterConfig

_MASTER = 4 + 4 + 8  # weights, gradient, two moments of AdamW
_REPLICA = 4 + 4  # weights, gradient


@dataclass(frozen=True)
class Load:
    """What is trained: `rows` of `length` tokens a micro-batch, `anchors` a row, features of `itemsize` bytes."""

    rows: int
    length: int
    anchors: int
    itemsize: int
    final: bool  # the target's final states travel too, for KL
    ema: bool
    bfloat16: bool
    recomputed: bool
    depth: int


def feature_bytes(config: DrafterConfig, load: Load) -> int:
    """Bytes that travel from target to drafter for each token of context."""
    return config.hidden_size * (len(config.target_layer_ids) + load.final) * load.itemsize


def activation_bytes(config: DrafterConfig, load: Load) -> int:
    """Of one micro-batch's forward, kept for its backward; masks and temporaries not counted.

    A layer keeps about ten tensors of its width and three of its MLP's for every block token, and keys and values of
    the context; recomputed layers keep their input alone, but one at a time is whole.
    """
    size = 2 if load.bfloat16 else 4
    queries, context = load.rows * load.anchors * config.block_size, load.rows * load.length
    keys = 2 * config.num_key_value_heads * config.head_dim
    layer = queries * (10 * config.hidden_size + 3 * config.intermediate_size) + context * 2 * keys
    kept = queries * config.hidden_size
    layers = config.num_hidden_layers
    numbers = layers * kept + layer if load.recomputed else layers * layer
    return size * (numbers + context * 2 * config.hidden_size) + CHUNK_BYTES


def estimate(
    drafter: Drafter, target_bytes: int, load: Load, coordinator: str, targets: tuple[str, ...], drafters: tuple[str, ...]
) -> dict[str, dict[str, int]]:
    """Device to bytes by what they are for. Copies on one device share their weights."""
    parameters = sum(p.numel() for p in drafter.parameters())
    features = feature_bytes(drafter.config, load) * load.rows * load.length
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    found[coordinator]["drafter, gradient, AdamW"] = parameters * _MASTER
    if load.ema:
        found[coordinator]["averaged weights"] = parameters * 4
    for device in {coordinator, *targets}:
        found[device]["target"] = target_bytes
    for device in targets:
        found[device]["features being made"] += features
    for device in drafters:
        shares = device == coordinator
        found[device]["replicas"] += parameters * (4 if shares else _REPLICA)
        found[device]["features waiting"] += features * (load.depth + 1)
        found[device]["activations, about"] += activation_bytes(drafter.config, load)
    return {device: dict(parts) for device, parts in sorted(found.items())}



@dataclass(frozen=True)
class TargetBytes:
    """Of a target's weights: all, those of its decoder layers, and those of its largest layer."""

    all: int
    layers: int = 0
    largest: int = 0


def estimate_rank(
    drafter: Drafter, target: TargetBytes, load: Load, ranks: int, drafter_sharded: bool, target_sharded: bool
) -> dict[str, int]:
    """Bytes of one of `ranks` processes by what they are for."""
    parameters = sum(p.numel() for p in drafter.parameters())
    layers = [sum(p.numel() for p in layer.parameters()) for layer in drafter.layers]
    share = ranks if drafter_sharded else 1
    found = {"drafter, gradient, AdamW": -(-parameters * _MASTER // share)}
    if load.ema:
        found["averaged weights"] = -(-parameters * 4 // share)
    if drafter_sharded:
        # One layer runs while the next is fetched, and one has its gradient whole; what is in no layer stays.
        found["what is whole for a time"] = 4 * (3 * max(layers) + 2 * (parameters - sum(layers)))
        if load.bfloat16 and not load.recomputed:
            found["bfloat16 weights for the backward"] = parameters * 2
    else:
        found["gradients being added up"] = parameters * 4
    found["target"] = target.all
    if target_sharded:
        found["target"] = target.all - target.layers + -(-target.layers // ranks) + 2 * target.largest
    features = feature_bytes(drafter.config, load) * load.rows * load.length
    found["features"] = features
    found["activations, about"] = activation_bytes(drafter.config, load)
    return found
