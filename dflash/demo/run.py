"""All of it in one go: corpus, target, cached features, drafter, evaluation, export, plot."""

from __future__ import annotations

import dataclasses
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dflash.data.feature_cache import CachedBatches
from dflash.data.tokenizer import ByteTokenizer
from dflash.decode import generate
from dflash.demo import corpus
from dflash.demo.plot import plot
from dflash.demo.rows import cache_rows, own_text
from dflash.demo.target_training import train, validation_loss
from dflash.evaluate import Report, distinct_trigrams, evaluate
from dflash.export import write_drafter
from dflash.loss import Objective
from dflash.model import Drafter, DrafterConfig
from dflash.sampling import Sampling
from dflash.target import TinyConfig, TinyTarget
from dflash.train import Settings, Trainer

TEMPERATURE = 0.7


@dataclass(frozen=True)
class DemoSettings:
    """Sizes and lengths of the demonstration; the defaults take about five minutes of one core."""

    target: TinyConfig = field(default_factory=TinyConfig)
    target_steps: int = 400
    block_size: int = 8
    drafter_layers: int = 2
    layer_ids: tuple[int, ...] = (1, 3, 4)
    drafter_steps: int = 800
    lr: float = 2e-3
    rows: int = 16  # per step
    length: int = 128
    anchors: int = 16  # per row
    cached_rows: int = 2048
    # The final evaluation, once, on modules that neither training nor the choice of settings has seen.
    prompts: int = 64
    prompt_bytes: int = 32  # with new_bytes the length that target and drafter were trained on
    new_bytes: int = 96
    validations: int = 8
    seed: int = 0


def run(
    out: Path, settings: DemoSettings | None = None, say: Callable[[str], None] = print
) -> dict[str, Any]:
    """Run the demonstration into the directory `out`; returns the figures that `--json` prints."""
    s = settings or DemoSettings()
    began, busy = time.perf_counter(), time.process_time()

    def told(line: str) -> None:
        say(f"[{time.perf_counter() - began:5.0f} s] {line}")

    out.mkdir(parents=True, exist_ok=True)
    text, validation, test = corpus.load()
    aside = (validation.numel() + test.numel()) / 1e6
    told(f"corpus: {text.numel() / 1e6:.1f} MB of Python's library, {aside:.1f} MB held out")

    def every_fifth(step: int, loss: float) -> None:
        if step % max(1, s.target_steps // 5) == 0:
            told(f"target step {step}/{s.target_steps}: {loss:.3f} nats per byte")

    target = train(text, s.target, s.target_steps, seed=s.seed, report=every_fifth)
    loss = validation_loss(target, test)
    target.save(out / "target")
    told(f"target: {loss:.3f} nats per held-out byte, {_count(target) / 1e6:.2f} M parameters")

    cache = out / "features"
    tokens = own_text(target, text, s.cached_rows, s.prompt_bytes, s.length, TEMPERATURE, s.seed + 2)
    told(f"text: the target continued {s.cached_rows} prompts of {s.prompt_bytes} bytes")
    size = cache_rows(cache, tokens, s.prompt_bytes, target, s.layer_ids)
    told(f"features: {s.cached_rows} rows of {s.length} bytes cached, {size / 1e6:.0f} MB")
    drafter = Drafter(drafter_config(s)).initialize(torch.Generator().manual_seed(s.seed + 1))
    told(f"drafter: {_count(drafter) / 1e3:.0f} K parameters, blocks of {s.block_size}")
    log = train_drafter(drafter, target, cache, validation, out, s, told)
    shutil.rmtree(cache)
    result = judge(target, drafter, test, s)
    result |= {"target_loss": loss, "block_size": s.block_size, "seconds": time.perf_counter() - began}
    result["cpu_seconds"] = time.process_time() - busy
    write_drafter(drafter, out / "drafter")
    plot(out / "tau.png", log, result)
    (out / "result.json").write_text(json.dumps(result, indent=2) + "\n")
    told(
        f"tau at {TEMPERATURE}: {result['tau']:.2f} [{result['tau_low']:.2f}, {result['tau_high']:.2f}]; "
        f"zeroed features {result['tau_features_zeroed']:.2f}; greedy {result['tau_greedy']:.2f} "
        f"(distinct trigrams {result['greedy_distinct_trigrams']:.2f}, lossless {result['lossless']})"
    )
    told(f"written to {out}: target/, drafter/ (the community's format), tau.png, result.json, log.jsonl")
    return result


def drafter_config(s: DemoSettings) -> DrafterConfig:
    """A drafter shaped like its target."""
    t = s.target
    return DrafterConfig(
        hidden_size=t.hidden_size,
        intermediate_size=t.intermediate_size,
        num_hidden_layers=s.drafter_layers,
        num_attention_heads=t.num_attention_heads,
        num_key_value_heads=t.num_key_value_heads,
        head_dim=t.head_dim,
        vocab_size=t.vocab_size,
        block_size=s.block_size,
        mask_token_id=ByteTokenizer.mask,
        target_layer_ids=s.layer_ids,
        num_target_layers=t.num_hidden_layers,
        rope_theta=t.rope_theta,
        max_position_embeddings=t.max_position_embeddings,
    )


def prompts_from(held_out: Tensor, count: int, length: int) -> list[list[int]]:
    """Evenly spread pieces of held-out code."""
    starts = torch.linspace(0, held_out.numel() - length - 1, count + 2).long()[1:-1]
    return corpus.windows(held_out, starts, length).tolist()


def train_drafter(
    drafter: Drafter,
    target: TinyTarget,
    cache: Path,
    held_out: Tensor,
    out: Path,
    s: DemoSettings,
    told: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Train it, telling tau on the way; returns the log."""
    prompts = prompts_from(held_out, 24, s.prompt_bytes)

    def validation(model: Drafter) -> dict[str, Any]:
        report = evaluate(target, model, prompts, 48, sampling=Sampling(TEMPERATURE), batch=24, seed=7)
        return {k: getattr(report, k) for k in ("tau", "tau_low", "tau_high")}

    settings = Settings(
        steps=s.drafter_steps,
        lr=s.lr,
        anchors=s.anchors,
        seed=s.seed,
        checkpoint_every=None,
        log_every=max(1, s.drafter_steps // 60),
        validate_every=max(1, s.drafter_steps // s.validations),
    )
    objective = Objective(ce=0.0, kl=1.0, kl_temperature=TEMPERATURE)
    trainer = Trainer(
        settings, drafter, target, CachedBatches(cache, s.rows, s.seed), objective, out, validation=validation
    )
    log: list[dict[str, Any]] = []

    def report(entry: dict[str, Any]) -> None:
        log.append(entry)
        if entry["kind"] == "validate":
            told(f"drafter step {entry['step']}/{s.drafter_steps}: tau {entry['tau']:.2f} at {TEMPERATURE}")

    trainer.run(report=report)
    drafter.eval()
    return log


def judge(target: TinyTarget, drafter: Drafter, held_out: Tensor, s: DemoSettings) -> dict[str, Any]:
    """The final figures, on prompts that no decision was taken by."""
    prompts = prompts_from(held_out, s.prompts, s.prompt_bytes)
    warm = Sampling(TEMPERATURE)

    def measure(sampling: Sampling, **options: Any) -> Report:
        return evaluate(
            target, drafter, prompts, s.new_bytes, sampling=sampling, batch=16, seed=11, **options
        )

    sampled, blind, greedy = (
        measure(warm),
        measure(warm, zero_features=True),
        measure(Sampling(), compare=True),
    )
    g = torch.Generator().manual_seed(13)
    own = generate(target, None, prompts, s.new_bytes, warm, generator=g)
    return {
        "tau": sampled.tau,
        "tau_low": sampled.tau_low,
        "tau_high": sampled.tau_high,
        "tau_t07": sampled.tau,
        "tau_features_zeroed": blind.tau,
        "tau_greedy": greedy.tau,
        "acceptance": sampled.acceptance,
        "distinct_trigrams": distinct_trigrams([row.tokens for row in own]),
        "greedy_distinct_trigrams": greedy.distinct_trigrams,
        "prompts": len(prompts),
        "lossless": greedy.lossless,
        "speedup": greedy.speedup,
        "settings": json.loads(json.dumps(dataclasses.asdict(s))),
    }


def _count(model: torch.nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())
