"""One training step against a reference written from the paper, one block and one head at a time."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from data import random_batches
from models import drafter_for, tiny_target

from dflash.loss import Objective
from dflash.train import Settings, Trainer
from dflash.train.step import prepare


def norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def turn(x: torch.Tensor, position: int, theta: float) -> torch.Tensor:
    half = x.shape[-1] // 2
    out = torch.empty_like(x)
    for i in range(half):
        # float32 angles, as the model computes them
        step = torch.tensor(1.0) / theta ** (torch.tensor(2.0 * i) / x.shape[-1])
        angle = torch.tensor(float(position)) * step
        c, s = math.cos(angle), math.sin(angle)
        out[i], out[i + half] = x[i] * c - x[i + half] * s, x[i + half] * c + x[i] * s
    return out


def reference_block(w: dict, c, block: torch.Tensor, fused: torch.Tensor, anchor: int) -> torch.Tensor:
    """States `[B, D]` of one block at position `anchor`, context features `fused [anchor, D]`."""
    x, group = block, c.num_attention_heads // c.num_key_value_heads
    for n in range(c.num_hidden_layers):
        p = f"layers.{n}."
        y = norm(x, w[p + "input_layernorm.weight"], c.rms_norm_eps)
        source = torch.cat([fused, y])
        places = [*range(anchor), *range(anchor, anchor + c.block_size)]
        heads = []
        for h in range(c.num_attention_heads):
            q_rows = slice(h * c.head_dim, (h + 1) * c.head_dim)
            k_rows = slice(h // group * c.head_dim, (h // group + 1) * c.head_dim)
            q = norm(
                y @ w[p + "self_attn.q_proj.weight"][q_rows].T,
                w[p + "self_attn.q_norm.weight"],
                c.rms_norm_eps,
            )
            k = norm(
                source @ w[p + "self_attn.k_proj.weight"][k_rows].T,
                w[p + "self_attn.k_norm.weight"],
                c.rms_norm_eps,
            )
            v = source @ w[p + "self_attn.v_proj.weight"][k_rows].T
            q = torch.stack([turn(q[i], anchor + i, c.rope_theta) for i in range(c.block_size)])
            k = torch.stack([turn(k[i], place, c.rope_theta) for i, place in enumerate(places)])
            heads.append(torch.softmax(q @ k.T / math.sqrt(c.head_dim), -1) @ v)
        x = x + torch.cat(heads, -1) @ w[p + "self_attn.o_proj.weight"].T
        y = norm(x, w[p + "post_attention_layernorm.weight"], c.rms_norm_eps)
        gate = y @ w[p + "mlp.gate_proj.weight"].T
        up = y @ w[p + "mlp.up_proj.weight"].T
        x = x + (gate * torch.sigmoid(gate) * up) @ w[p + "mlp.down_proj.weight"].T
    return norm(x, w["norm.weight"], c.rms_norm_eps)


@pytest.mark.parametrize("backend", ["sdpa", "flex"])
def test_step_equals_reference(backend: str, tmp_path: Path) -> None:
    target = tiny_target(dtype=torch.float64)
    drafter = drafter_for(target, dtype=torch.float64)
    c = drafter.config
    settings = Settings(
        steps=10,
        lr=1e-2,
        accumulation=2,
        anchors=3,
        attention=backend,
        schedule="constant",
        warmup_ratio=0.0,
        weight_decay=0.1,
        seed=5,
        checkpoint_every=None,
        log_every=1,
    )
    start = {n: t.detach().clone().requires_grad_() for n, t in drafter.named_parameters()}
    trainer = Trainer(
        settings, drafter, target, random_batches(tmp_path / "a"), Objective(gamma=2.0), tmp_path / "out"
    )

    source, total, weights = random_batches(tmp_path / "b"), torch.zeros((), dtype=torch.float64), 0.0
    for micro in range(2):
        g = torch.Generator().manual_seed((5 * 1_000_003 + 0) * 4_099 + micro)
        made = prepare(next(source), c, 3, g)
        tokens, documents = made.batch.tokens, made.batch.documents
        for row in range(2):
            for a, ok in zip(made.layout.anchors[row].tolist(), made.layout.valid[row].tolist(), strict=True):
                if not ok:
                    continue
                first = documents[row].tolist().index(int(documents[row, a]))  # where its document begins
                alone = target.read(tokens[row : row + 1, first : a + 1], (1, 3)).features[0, : a - first]
                fused = norm(alone @ start["fc.weight"].T, start["hidden_norm.weight"], c.rms_norm_eps)
                ids = torch.tensor([int(tokens[row, a]), *[c.mask_token_id] * (c.block_size - 1)])
                states = reference_block(start, c, target.embed(ids), fused, a - first)
                for k in range(1, c.block_size):
                    t = a + k
                    if (
                        t < tokens.shape[1]
                        and documents[row, t] == documents[row, a]
                        and made.batch.loss_mask[row, t]
                    ):
                        logits = states[k] @ target.lm_head.weight.T
                        weight = math.exp(-(k - 1) / 2.0)
                        total = total - weight * torch.log_softmax(logits, 0)[tokens[row, t]]
                        weights += weight
    loss = total / weights
    assert weights > 0
    grads = torch.autograd.grad(loss, list(start.values()))
    size = torch.sqrt(sum((g * g).sum() for g in grads))
    entries: list[dict] = []
    trainer.run(until=1, report=entries.append)
    # The decay weights are float32 in the trainer, hence 1e-6.
    assert entries[0]["loss"] == pytest.approx(float(loss.detach()), rel=1e-6)
    assert entries[0]["gradient_norm"] == pytest.approx(float(size), rel=1e-5)
    for (name, before), g in zip(start.items(), grads, strict=True):
        g = g * min(1.0, 1.0 / float(size))
        # AdamW's first step: moments equal the gradient, so the move is lr * g / (|g| + eps).
        decayed = before.detach() * (1 - 1e-2 * 0.1) if before.ndim > 1 else before.detach()
        expected = decayed - 1e-2 * g / (g.abs() + 1e-8)
        solid = g.abs() > 1e-6  # where the sign is not a matter of rounding
        torch.testing.assert_close(drafter.get_parameter(name)[solid], expected[solid], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_gradient_checkpointing_changes_nothing(use_reentrant: bool, tmp_path: Path) -> None:
    results = []
    for kind in ("none", "reentrant" if use_reentrant else "non_reentrant"):
        target = tiny_target(dtype=torch.float64)
        drafter = drafter_for(target, dtype=torch.float64)
        settings = Settings(steps=3, anchors=3, checkpointing=kind, checkpoint_every=None)
        batches = random_batches(tmp_path / kind)
        Trainer(settings, drafter, target, batches, Objective(), tmp_path / f"{kind}-out").run()
        results.append({n: p.detach().clone() for n, p in drafter.named_parameters()})
    for name, expected in results[0].items():  # sums of gradients may come in another order
        torch.testing.assert_close(results[1][name], expected, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("weighting", ["decay", "dpace"])
def test_accumulation_equals_one_large_batch(weighting: str, tmp_path: Path) -> None:
    """Rows with different numbers of labels: a mean of means would differ."""
    target = tiny_target(dtype=torch.float64)
    losses, objective = [], Objective(weighting=weighting)
    for rows, accumulation in ((4, 1), (1, 4)):
        drafter = drafter_for(target, dtype=torch.float64)
        # Every candidate becomes an anchor, so that the draw doesn't depend on how rows are grouped.
        settings = Settings(
            steps=2, anchors=24, accumulation=accumulation, checkpoint_every=None, log_every=1
        )
        batches = random_batches(tmp_path / str(rows), rows=rows)
        entries: list[dict] = []
        Trainer(settings, drafter, target, batches, objective, tmp_path / f"{rows}-out").run(
            report=entries.append
        )
        losses.append([e["loss"] for e in entries])
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_bfloat16_keeps_float32_masters(tmp_path: Path) -> None:
    target = tiny_target(dtype=torch.bfloat16)
    drafter = drafter_for(target)
    settings = Settings(steps=2, anchors=3, precision="bfloat16", checkpoint_every=None, log_every=1)
    entries: list[dict] = []
    Trainer(settings, drafter, target, random_batches(tmp_path / "d"), Objective(), tmp_path / "out").run(
        report=entries.append
    )
    assert {p.dtype for p in drafter.parameters()} == {torch.float32}
    assert all(math.isfinite(e["loss"]) for e in entries)
    with pytest.raises(ValueError, match="master weights must be float32"):
        Trainer(
            settings,
            drafter.bfloat16(),
            target,
            random_batches(tmp_path / "d"),
            Objective(),
            tmp_path / "out",
        )
