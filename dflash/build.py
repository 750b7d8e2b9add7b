"""From a configuration to the parts of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from dflash import target as targets
from dflash.config import Config, DrafterSection, TargetSection, differences
from dflash.data import Batches, ByteTokenizer, HuggingFaceTokenizer, Records, Tokenizer, encode
from dflash.data.examples import prompt_of
from dflash.data.feature_cache import CachedBatches, CacheKey
from dflash.data.feature_cache import build as build_cache
from dflash.errors import UserError
from dflash.evaluate import evaluate
from dflash.export import read_drafter
from dflash.loss import Objective
from dflash.model import Drafter, DrafterConfig, spread_layer_ids
from dflash.pipeline import PipelineSettings, devices
from dflash.pipeline.processes import ProcessTrainer
from dflash.pipeline.ranks import first_rank_first
from dflash.pipeline.sharded import ShardedTrainer
from dflash.pipeline.trainer import ThreadedTrainer
from dflash.sampling import Sampling
from dflash.target import Target
from dflash.train import Settings, Trainer, checkpoint
from dflash.train.plan import Source


@dataclass
class Run:
    """A trainer and what was built for it."""

    trainer: Trainer
    target: Target
    tokenizer: Tokenizer
    records: Records


def load_target(section: TargetSection, sharded: bool = False) -> tuple[Target, Tokenizer]:
    """Target and tokenizer; raises UserError for a device that isn't there."""
    devices.require(section.device)
    if sharded:
        from dflash.pipeline import sharded_target  # transformers is an optional extra

        device = torch.device(section.device)
        target: Target = sharded_target.load(section.path, section.dtype, device, section.gguf_file)
    else:
        target = targets.load(section.path, section.dtype, section.device, section.gguf_file)
    return target, load_tokenizer(section)


def load_tokenizer(section: TargetSection) -> Tokenizer:
    if section.tokenizer == "bytes":
        return ByteTokenizer()
    loaded = HuggingFaceTokenizer.load(section.tokenizer or section.path, section.gguf_file)
    loaded.stop_ids = sorted({*loaded.stop_ids, *section.stop_ids})
    return loaded


def drafter_config(config: Config, target: Any, tokenizer: Tokenizer) -> DrafterConfig:
    """Sizes of the drafter, from the configuration or else the target; raises UserError if they don't fit."""
    d, t = config.drafter, target.text_config
    heads = d.num_attention_heads or int(t.num_attention_heads)
    mask = d.mask_token_id
    if mask is None:
        mask = ByteTokenizer.mask if isinstance(tokenizer, ByteTokenizer) else tokenizer_mask(tokenizer)
    theta = d.rope_theta or getattr(t, "rope_theta", None) or _rope(t).get("rope_theta")
    try:
        ids = d.target_layer_ids or spread_layer_ids(target.num_layers, d.features)
        return DrafterConfig(
            hidden_size=target.hidden_size,
            intermediate_size=d.intermediate_size
            or int(getattr(t, "intermediate_size", 4 * target.hidden_size)),
            num_hidden_layers=d.num_hidden_layers,
            num_attention_heads=heads,
            num_key_value_heads=d.num_key_value_heads or int(getattr(t, "num_key_value_heads", heads)),
            head_dim=d.head_dim or int(getattr(t, "head_dim", None) or target.hidden_size // heads),
            vocab_size=target.vocab_size,
            block_size=d.block_size,
            mask_token_id=mask,
            target_layer_ids=tuple(ids),
            num_target_layers=target.num_layers,
            layer_types=tuple(d.layer_types or ()),
            sliding_window=d.sliding_window,
            causal=d.causal,
            rope_theta=float(theta or DrafterConfig.rope_theta),
            rope_scaling=d.rope_scaling,
            max_position_embeddings=int(getattr(t, "max_position_embeddings", 32768)),
        )
    except ValueError as error:
        raise UserError(f"drafter: {error}") from None


def _rope(text_config: Any) -> dict[str, Any]:
    return getattr(text_config, "rope_parameters", None) or {}


def tokenizer_mask(tokenizer: Any) -> int:
    """The tokenizer's mask token; raises UserError if it has none."""
    found = getattr(tokenizer.inner, "mask_token_id", None)
    if found is None:
        raise UserError(
            "drafter.mask_token_id is not set and the tokenizer has no mask token: "
            "choose the id of a special token that texts don't use"
        )
    return int(found)


def training(
    config: Config, say: Callable[[str], None] = lambda line: None, target: Any = None, tokenizer: Any = None
) -> Run:
    """Everything that `dflash train` needs; raises UserError for what doesn't fit together."""
    if target is None:
        target, tokenizer = load_target(config.target, config.pipeline.target == "sharded")
    d = config.data
    try:
        objective = Objective(**config.loss.model_dump())
    except ValueError as error:
        raise UserError(f"loss: {error}") from None
    records = Records(d.train, d.skip_bad)
    if records.skipped:
        say(f"{records.skipped} bad lines left out")
    if config.drafter.init_from:
        drafter = read_drafter(config.drafter.init_from).float()
        check_pair(drafter, target)
        check_sizes(config.drafter, drafter.config)
    else:
        shape = drafter_config(config, target, tokenizer)
        drafter = Drafter(shape).initialize(torch.Generator().manual_seed(config.train.seed))
    size = drafter.config.block_size
    if size > d.length:
        raise UserError(f"drafter.block_size {size} is longer than data.length {d.length}")

    def to_example(record: dict[str, Any]) -> Any:
        return encode(record, tokenizer, d.turns)

    options: dict[str, Any] = {
        "pack": d.pack,
        "seed": config.train.seed,
        "skip_bad": d.skip_bad,
        "block_size": size,
    }
    source: Source = Batches(records, to_example, d.rows, d.length, **options)
    out = Path(config.output.directory)
    if config.features.mode == "cached":
        directory = Path(config.features.directory or out / "features")
        key = CacheKey(
            config.target.path, str(target.dtype), drafter.config.target_layer_ids, d.length, d.pack, d.turns,
            objective.needs_target_logits, tuple((str(p), p.stat().st_size) for p in records.paths),
            config.train.seed,
        )  # fmt: skip
        rows = Batches(records, to_example, 1, d.length, **options)
        alone = first_rank_first() if config.pipeline.mode == "processes" else nullcontext()
        with alone:
            build_cache(directory, rows, target, key, config.features.shard_rows, say)
        source = CachedBatches(directory, d.rows, config.train.seed)
    names = {f.name for f in dataclasses.fields(Settings)}
    values = config.train.model_dump() | config.output.model_dump()
    settings = Settings(**{k: v for k, v in values.items() if k in names})
    validation = (
        _validation(config, target, tokenizer) if d.validation and config.output.validate_every else None
    )
    kind: Callable[..., Trainer] = Trainer
    if config.pipeline.mode == "threads":
        kind = partial(ThreadedTrainer, pipeline=pipeline_settings(config))
    elif config.pipeline.mode == "processes":
        kind = ShardedTrainer if config.pipeline.drafter == "sharded" else ProcessTrainer
    trainer = kind(
        settings,
        drafter,
        target,
        source,
        objective,
        out,
        config=config.model_dump(mode="json"),
        validation=validation,
    )
    return Run(trainer, target, tokenizer, records)


def pipeline_settings(config: Config) -> PipelineSettings:
    """Devices expanded and tried; raises UserError for one that isn't there."""
    p = config.pipeline
    own = [config.target.device]
    try:
        return PipelineSettings(
            devices.expand(own if p.targets is None else p.targets, "pipeline.targets"),
            devices.expand(own if p.drafters is None else p.drafters, "pipeline.drafters"),
            p.depth, p.patience, p.compile, p.fix,
        )  # fmt: skip
    except ValueError as error:
        raise UserError(str(error)) from None


def check_pair(drafter: Drafter, target: Target) -> None:
    """Raise UserError unless the drafter was made for a target of these sizes."""
    c = drafter.config
    for name, ours, theirs in (
        ("hidden_size", c.hidden_size, target.hidden_size),
        ("vocab_size", c.vocab_size, target.vocab_size),
        ("num_target_layers", c.num_target_layers, target.num_layers),
    ):
        if ours != theirs:
            raise UserError(
                f"the drafter was made for another target: {name} {ours}, the target has {theirs}"
            )


def check_sizes(section: DrafterSection, found: DrafterConfig) -> None:
    """Raise UserError where the configuration asks for other sizes than `drafter.init_from` has."""
    for name in sorted(section.model_fields_set - {"init_from"}):
        asked = getattr(section, name)
        has: Any = len(found.target_layer_ids) if name == "features" else getattr(found, name)
        if asked is not None and asked != (list(has) if isinstance(has, tuple) else has):
            raise UserError(
                f"drafter.{name} {asked}: the drafter in {section.init_from} has {has}; "
                "leave the key out, or train from nothing"
            )


def check_resume(trainer: Trainer, path: Path | None) -> None:
    """Raise UserError if the checkpoint to resume was written under a configuration that trains otherwise."""
    found = checkpoint.find(trainer.checkpoints)
    if path is None and not found:
        return
    old = checkpoint.read_state(path or found[-1]).get("config", {})
    changed = differences(old, trainer.config)
    if changed:
        raise UserError(
            f"--resume: the configuration changed since the checkpoint: {', '.join(changed)}; "
            "change it back, or start in another output.directory with drafter.init_from"
        )


def read_prompts(
    path: str | Path, tokenizer: Tokenizer, count: int | None = None, skip_bad: bool = False
) -> list[list[int]]:
    """Token ids of a JSONL file's prompts; raises UserError naming the record that can't be one."""
    records, found = Records([path], skip_bad), []
    for i in range(min(len(records), count or len(records))):
        try:
            found.append(prompt_of(records[i], tokenizer)[0])
        except ValueError as error:
            raise UserError(f"{path}: record {i + 1}: {error}") from None
    return found


def _validation(config: Config, target: Target, tokenizer: Tokenizer) -> Callable[[Drafter], dict[str, Any]]:
    o = config.output
    prompts: list[list[int]] = []
    for path in config.data.validation:
        prompts += read_prompts(
            path, tokenizer, o.validation_prompts - len(prompts) or 1, config.data.skip_bad
        )
    prompts = prompts[: o.validation_prompts]

    def validate(drafter: Drafter) -> dict[str, Any]:
        report = evaluate(
            target, drafter, prompts, o.validation_tokens, sampling=Sampling(o.validation_temperature),
            stop_ids=tokenizer.stop_ids, batch=8, seed=config.train.seed,
        )  # fmt: skip
        keys = ("tau", "tau_low", "tau_high", "acceptance", "distinct_trigrams")
        return {k: getattr(report, k) for k in keys}

    return validate
