"""Training step of one drafter: our attention backends against plain transformers layers.

    python benchmarks/trainer.py [--anchors 512] [--variants transformers,sdpa,flex] [--json]

Every variant runs in a process of its own, on the same inputs and from the same weights, one after another
in this run; the losses must agree. Reported: seconds of a step by the clock and of the processor (medians;
rates and ratios are made of the second, which holds on a shared machine too), block tokens per processor
second, peak memory of the process above what it held before the first step, and the share of the
matrix-multiplication rate measured on the same machine that the work a step needs reaches.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parents[1]))

from dflash.data import Batch
from dflash.loss import Objective
from dflash.masks import dense, drafter_mask
from dflash.model import Drafter, DrafterConfig
from dflash.target import TargetOutput, TinyConfig, TinyTarget
from dflash.train.step import Prepared, block_ids, loss_of, prepare

VARIANTS = ("transformers", "sdpa", "flex")


class PlainLayers(nn.Module):
    """The same drafter, straight from transformers' Qwen3 parts: dense mask, concatenated keys."""

    def __init__(self, c: DrafterConfig) -> None:
        from transformers import Qwen3Config
        from transformers.models.qwen3.modeling_qwen3 import Qwen3MLP, Qwen3RMSNorm, Qwen3RotaryEmbedding

        super().__init__()
        config = Qwen3Config(
            hidden_size=c.hidden_size,
            intermediate_size=c.intermediate_size,
            num_attention_heads=c.num_attention_heads,
            num_key_value_heads=c.num_key_value_heads,
            head_dim=c.head_dim,
            rms_norm_eps=c.rms_norm_eps,
            rope_parameters={"rope_type": "default", "rope_theta": c.rope_theta},
        )
        self.c, self.rotary_emb = c, Qwen3RotaryEmbedding(config)
        self.fc = nn.Linear(len(c.target_layer_ids) * c.hidden_size, c.hidden_size, bias=False)
        self.hidden_norm = Qwen3RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.norm = Qwen3RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.layers = nn.ModuleList()
        for _ in range(c.num_hidden_layers):
            layer = nn.Module()
            layer.self_attn = nn.Module()
            for name, heads in (
                ("q", c.num_attention_heads),
                ("k", c.num_key_value_heads),
                ("v", c.num_key_value_heads),
            ):
                setattr(
                    layer.self_attn, f"{name}_proj", nn.Linear(c.hidden_size, heads * c.head_dim, bias=False)
                )
            layer.self_attn.o_proj = nn.Linear(c.num_attention_heads * c.head_dim, c.hidden_size, bias=False)
            layer.self_attn.q_norm = Qwen3RMSNorm(c.head_dim, c.rms_norm_eps)
            layer.self_attn.k_norm = Qwen3RMSNorm(c.head_dim, c.rms_norm_eps)
            layer.mlp = Qwen3MLP(config)
            layer.input_layernorm = Qwen3RMSNorm(c.hidden_size, c.rms_norm_eps)
            layer.post_attention_layernorm = Qwen3RMSNorm(c.hidden_size, c.rms_norm_eps)
            self.layers.append(layer)

    def forward(self, x: Tensor, features: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        from transformers.models.qwen3.modeling_qwen3 import apply_rotary_pos_emb, repeat_kv

        c = self.c
        fused = self.hidden_norm(self.fc(features))
        cos, sin = self.rotary_emb(x, positions)  # of [context ; blocks]
        start, groups = features.shape[1], c.num_attention_heads // c.num_key_value_heads
        for layer in self.layers:
            a, y = layer.self_attn, layer.input_layernorm(x)
            both = torch.cat((fused, y), dim=1)
            q = a.q_norm(a.q_proj(y).unflatten(-1, (-1, c.head_dim))).transpose(1, 2)
            k = a.k_norm(a.k_proj(both).unflatten(-1, (-1, c.head_dim))).transpose(1, 2)
            v = a.v_proj(both).unflatten(-1, (-1, c.head_dim)).transpose(1, 2)
            q, _ = apply_rotary_pos_emb(q, q, cos[:, start:], sin[:, start:])
            k, _ = apply_rotary_pos_emb(k, k, cos, sin)
            out = F.scaled_dot_product_attention(q, repeat_kv(k, groups), repeat_kv(v, groups), mask)
            x = x + a.o_proj(out.transpose(1, 2).flatten(2))
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return self.norm(x)


def sizes(options: argparse.Namespace) -> tuple[DrafterConfig, TinyConfig]:
    head_dim = 64
    common = {
        "hidden_size": options.hidden,
        "intermediate_size": 3 * options.hidden,
        "head_dim": head_dim,
        "num_attention_heads": options.hidden // head_dim,
        "num_key_value_heads": max(1, options.hidden // head_dim // 2),
        "vocab_size": options.vocabulary,
    }
    drafter = DrafterConfig(
        **common,
        num_hidden_layers=options.layers,
        block_size=options.block,
        mask_token_id=0,
        target_layer_ids=(1, 3),
        num_target_layers=6,
    )
    return drafter, TinyConfig(**common, num_hidden_layers=6)


def plain_loss(
    model: PlainLayers, target: TinyTarget, made: Prepared, output: TargetOutput, gamma: float
) -> Tensor:
    """Weighted cross entropy over all logits at once."""
    c, layout = model.c, made.layout
    rows = layout.anchors.shape[0]
    mask = dense(drafter_mask(layout), rows, layout.queries, layout.keys)
    block = target.embed(block_ids(made, c).flatten(1))
    states = model(block, output.features, layout.key_positions(), mask)
    logits = target.head(states.view(-1, c.block_size, c.hidden_size)[:, 1:])
    weights = torch.exp(-torch.arange(c.block_size - 1) / gamma) * made.present.flatten(0, 1)
    loss = F.cross_entropy(logits.flatten(0, 1), made.labels.flatten(), reduction="none")
    return (loss.view_as(weights) * weights).sum() / weights.sum()


def child(options: argparse.Namespace) -> dict[str, float]:
    """One variant, in this process."""
    torch.set_num_threads(options.threads)
    config, target_config = sizes(options)
    g = torch.Generator().manual_seed(0)
    target = TinyTarget(target_config).initialize(g).freeze()
    tokens = torch.randint(1, options.vocabulary, (1, options.length), generator=g)
    batch = Batch(tokens, torch.ones_like(tokens, dtype=torch.bool), torch.zeros_like(tokens))
    output = TargetOutput(
        tokens[..., None].float()[..., :0], torch.randn(1, options.length, 2 * options.hidden, generator=g)
    )
    reference = Drafter(config).initialize(torch.Generator().manual_seed(1))
    made = prepare(batch, config, options.anchors, torch.Generator().manual_seed(2))
    objective = Objective(gamma=7.0)
    denominator = objective.denominator(made.present)
    model: nn.Module = reference
    if options.child == "transformers":
        model = PlainLayers(config)
        model.load_state_dict(reference.state_dict())

        def step() -> Tensor:
            return plain_loss(model, target, made, output, 7.0)  # type: ignore[arg-type]
    else:

        def step() -> Tensor:
            return loss_of(reference, target, made, output, objective, denominator, options.child)[0]

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    before, times, busy, first = _resident(), [], [], 0.0
    with _Peak() as peak:
        for i in range(options.steps + 1):  # the first one warms up
            began, cpu = time.perf_counter(), time.process_time()
            loss = step()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            times.append(time.perf_counter() - began)
            busy.append(time.process_time() - cpu)
            first = first if i else float(loss.detach())
    return {
        "seconds": statistics.median(times[1:]),
        "cpu_seconds": statistics.median(busy[1:]),
        "peak": peak.value - before,
        "loss": first,
    }


def _resident() -> int:
    """Bytes of memory that this process holds now."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096


class _Peak:
    """Largest resident size while it is open; a thread looks every few milliseconds."""

    def __enter__(self) -> _Peak:
        self.value, self._done = _resident(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.005):
            self.value = max(self.value, _resident())

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def needed_flops(options: argparse.Namespace) -> float:
    """Operations that a step can't do without: backward twice the forward, no context beyond anchors."""
    d, s = options.hidden, options.length
    q = options.anchors * options.block
    c, _ = sizes(options)
    key_size, query_size = c.num_key_value_heads * c.head_dim, c.num_attention_heads * c.head_dim
    layer = q * d * 2 * query_size + (s + q) * d * 2 * key_size + 3 * q * d * c.intermediate_size
    attention = 2 * q * (s / 2 + options.block) * query_size
    head = options.anchors * (options.block - 1) * d * options.vocabulary
    # The frozen head has no weight gradient: forward and one backward product.
    return 2 * (3 * (s * 2 * d * d + options.layers * (layer + attention)) + 2 * head)


def gemm_rate(size: int = 1024, repeats: int = 20) -> float:
    """Measured float32 multiply rate in operations per second."""
    a = torch.randn(size, size)
    run: Callable[[], Tensor] = lambda: a @ a  # noqa: E731
    run()
    began = time.process_time()
    for _ in range(repeats):
        run()
    return repeats * 2 * size**3 / (time.process_time() - began) * torch.get_num_threads()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (
        ("anchors", 512),
        ("block", 16),
        ("length", 1024),
        ("hidden", 256),
        ("layers", 2),
        ("vocabulary", 16384),
        ("steps", 3),
        ("threads", 1),
    ):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--variants", default=",".join(VARIANTS), help=", ".join(VARIANTS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options)))
        return
    torch.set_num_threads(options.threads)
    rate, flops, rows = gemm_rate(), needed_flops(options), []
    for variant in options.variants.split(","):
        if variant not in VARIANTS:
            parser.error(f"variant {variant!r} is unknown (use {', '.join(VARIANTS)})")
        command = [sys.executable, __file__, *sys.argv[1:], "--child", variant]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{variant} failed: {done.stderr.splitlines()[-1] if done.stderr else done.returncode}")
        row = {"variant": variant, **json.loads(done.stdout.splitlines()[-1])}
        row["tokens_per_second"] = options.anchors * options.block / row["cpu_seconds"]
        row["gemm_share"] = flops / row["cpu_seconds"] / rate * options.threads
        rows.append(row)
    base = rows[0]
    for row in rows:
        row["speed"], row["memory"] = base["cpu_seconds"] / row["cpu_seconds"], row["peak"] / base["peak"]
    if options.json:
        print(json.dumps({"gemm_rate": rate, "needed_flops": flops, "rows": rows, "options": vars(options)}))
        return
    print(
        f"{options.anchors} anchors x block {options.block}, context {options.length}, "
        f"hidden {options.hidden}, {options.layers} layers, vocabulary {options.vocabulary}; "
        f"GEMM {rate / 1e9:.0f} GFLOP/s"
    )
    print(
        f"{'variant':<14}{'s/step':>8}{'cpu s':>8}{'tokens/s':>10}{'x':>7}"
        f"{'peak MB':>9}{'x':>7}{'of GEMM':>9}{'loss':>10}"
    )
    for r in rows:
        print(
            f"{r['variant']:<14}{r['seconds']:>8.2f}{r['cpu_seconds']:>8.2f}{r['tokens_per_second']:>10.0f}{r['speed']:>7.2f}"
            f"{r['peak'] / 1e6:>9.0f}{r['memory']:>7.2f}{r['gemm_share']:>9.0%}{r['loss']:>10.4f}"
        )


if __name__ == "__main__":
    main()
