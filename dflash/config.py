"""The training configuration: a TOML file with strict names, one section per part."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dflash.errors import UserError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TargetSection(Section):
    """The frozen model."""

    path: str
    tokenizer: str | None = None  # None: that of `path`; "bytes": ids 0..255
    gguf_file: str | None = None
    dtype: Literal["auto", "float32", "float64", "bfloat16", "float16"] = "auto"
    device: str = "cpu"
    stop_ids: list[int] = Field(default_factory=list)  # besides the tokenizer's end of text


class DrafterSection(Section):
    """Sizes; what is None follows the target."""

    num_hidden_layers: int = Field(default=5, ge=1)
    block_size: int = Field(default=16, ge=2)
    mask_token_id: int | None = None
    target_layer_ids: list[int] | None = None
    features: int = Field(default=5, ge=1)  # how many layers to tap when target_layer_ids is None
    intermediate_size: int | None = None
    num_attention_heads: int | None = None
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    layer_types: list[str] | None = None
    sliding_window: int | None = None
    causal: bool | None = None
    rope_theta: float | None = None
    rope_scaling: dict[str, Any] | None = None
    init_from: str | None = None  # an exported drafter to go on from


class DataSection(Section):
    train: list[str] = Field(min_length=1)
    validation: list[str] = Field(default_factory=list)
    length: int = Field(default=2048, ge=4)  # tokens per row
    rows: int = Field(default=1, ge=1)  # rows per micro-batch
    pack: bool = True
    turns: Literal["all", "last"] = "all"
    skip_bad: bool = False


class FeaturesSection(Section):
    """`online` runs the target at every step, `cached` once per text; a cache is reused when it fits."""

    mode: Literal["online", "cached"] = "online"
    directory: str | None = None
    shard_rows: int = Field(default=64, ge=1)


class LossSection(Section):
    ce: float = 1.0
    kl: float = 0.0
    kl_temperature: float = 1.0
    weighting: Literal["decay", "dpace", "uniform"] = "decay"
    gamma: float | None = None
    alpha: float = 0.5


class TrainSection(Section):
    steps: int = Field(ge=1)
    lr: float = Field(default=6e-4, gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = Field(default=0.0, ge=0)
    clip: float = Field(default=1.0, gt=0)
    accumulation: int = Field(default=1, ge=1)
    schedule: Literal["cosine", "wsd", "constant"] = "cosine"
    warmup_ratio: float = Field(default=0.04, ge=0, le=1)
    decay_ratio: float = Field(default=0.2, ge=0, le=1)  # of wsd
    anchors: int = Field(default=512, ge=1)  # per row
    attention: Literal["auto", "sdpa", "flex"] = "auto"
    precision: Literal["float32", "bfloat16"] = "float32"
    checkpointing: Literal["none", "reentrant", "non_reentrant"] = "none"
    ema: float | None = Field(default=None, gt=0, lt=1)
    seed: int = 0


class OutputSection(Section):
    directory: str
    log_every: int = Field(default=10, ge=1)
    checkpoint_every: int = Field(default=200, ge=1)
    keep: int = Field(default=2, ge=1)  # newest checkpoints to keep
    validate_every: int | None = None
    validation_prompts: int = Field(default=16, ge=1)
    validation_tokens: int = Field(default=64, ge=1)
    validation_temperature: float = Field(default=0.0, ge=0)
    tensorboard: bool = False


class PipelineSection(Section):
    """Several devices. What isn't for the `mode` is refused.

    `targets` and `drafters` list devices, one worker each (None: that of the target).
    """

    mode: Literal["one", "threads", "processes"] = "one"
    targets: list[str] | None = None  # "cuda:0-4" is five
    drafters: list[str] | None = None
    depth: int = Field(default=2, ge=1)  # steps planned ahead, and micro-batches waiting before each worker
    patience: float = Field(default=900.0, gt=0)  # seconds without a sign of life from a worker at work
    compile: Literal["per_thread", "shared"] = "per_thread"
    fix: str = "auto"  # "none", or one of `harness list`
    drafter: Literal["replicated", "sharded"] = "replicated"  # of processes: whole on each rank, or FSDP2
    target: Literal["replicated", "sharded"] = "replicated"

    @model_validator(mode="after")
    def only_what_the_mode_has(self) -> PipelineSection:
        for key in sorted(self.model_fields_set - {"mode"}):
            mode = "processes" if key in ("drafter", "target") else "threads"
            if self.mode != mode:
                raise ValueError(f'pipeline.{key} is for pipeline.mode = "{mode}"; the mode is "{self.mode}"')
        return self


class Config(Section):
    target: TargetSection
    drafter: DrafterSection = DrafterSection()
    data: DataSection
    features: FeaturesSection = FeaturesSection()
    loss: LossSection = LossSection()
    train: TrainSection
    pipeline: PipelineSection = PipelineSection()
    output: OutputSection

    @model_validator(mode="after")
    def a_cache_is_made_by_one_rank(self) -> Config:
        if self.features.mode == "cached" and self.pipeline.target == "sharded":
            raise ValueError(
                'features.mode = "cached": one rank makes the cache, but pipeline.target is sharded over all; '
                'set features.mode = "online", or pipeline.target = "replicated"'
            )
        return self


def load(path: str | Path, changes: Sequence[str] = ()) -> Config:
    """Read a TOML file and apply `section.key=value` changes; raises UserError naming the key at fault."""
    try:
        entries = tomllib.loads(Path(path).read_text())
    except OSError as error:
        raise UserError(f"{path}: can't be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not TOML: {error}") from None
    for change in changes:
        _apply(entries, change)
    return check(entries, str(path))


def _apply(entries: dict[str, Any], change: str) -> None:
    name, equals, text = change.partition("=")
    keys = name.strip().split(".")
    if not equals or len(keys) != 2 or not all(keys):
        raise UserError(f"--set {change}: write it as section.key=value, for example --set train.lr=3e-4")
    try:
        value = tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        value = text.strip()  # a bare word is a string
    section = entries.setdefault(keys[0], {})
    if not isinstance(section, dict):
        raise UserError(f"--set {change}: {keys[0]} is not a section")
    section[keys[1]] = value


def check(entries: dict[str, Any], source: str) -> Config:
    """Validate; the first problem becomes one line."""
    try:
        # JSON mode lets an integer stand for a float and a list for a tuple, and is strict otherwise.
        return Config.model_validate_json(json.dumps(entries, default=str))
    except ValidationError as error:
        # An unknown name explains another that is missing.
        problem = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        where = ".".join(str(k) for k in problem["loc"])
        if problem["type"] == "extra_forbidden":
            known = _names(problem["loc"][:-1])
            near = difflib.get_close_matches(str(problem["loc"][-1]), known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
            raise UserError(f"{source}: unknown key {where} ({hint})") from None
        if problem["type"] == "missing":
            raise UserError(f"{source}: {where} is missing") from None
        if problem["type"] == "value_error":  # ours: it names the key
            raise UserError(f"{source}: {problem['ctx']['error']}") from None
        raise UserError(f"{source}: {where}: {problem['msg']} (got {problem['input']!r})") from None


def _names(location: tuple[int | str, ...]) -> list[str]:
    model: Any = Config
    for key in location:
        model = model.model_fields[str(key)].annotation
    return list(model.model_fields)


def differences(
    old: dict[str, Any], new: dict[str, Any], ignore: Sequence[str] = ("output", "pipeline", "target.device")
) -> list[str]:
    """Keys whose values differ between two dumped configurations; sections and keys in `ignore` left out.

    Where a step is computed doesn't change what it computes, so a run may go on in another `pipeline`.
    """
    found = []
    for section in sorted({*old, *new} - set(ignore)):
        a, b = old.get(section, {}), new.get(section, {})
        found += [f"{section}.{k}" for k in sorted({*a, *b}) if a.get(k) != b.get(k)]
    return [key for key in found if key not in ignore]
