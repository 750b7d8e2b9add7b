from __future__ import annotations

import math

import pytest
import torch

from dflash.loss import Objective, block_loss, dpace
from dflash.loss.weights import default_gamma


def case(seed: int = 0, blocks: int = 7, slots: int = 3, hidden: int = 6, vocab: int = 11):
    g = torch.Generator().manual_seed(seed)
    states = torch.randn(blocks, slots, hidden, generator=g, dtype=torch.float64, requires_grad=True)
    final = torch.randn(blocks, slots, hidden, generator=g, dtype=torch.float64)
    head = torch.randn(hidden, vocab, generator=g, dtype=torch.float64)
    labels = torch.randint(0, vocab, (blocks, slots), generator=g)
    present = torch.rand(blocks, slots, generator=g) < 0.7
    present[2] = False
    return states, final, head, labels, present


def loop_reference(o: Objective, states, final, head, labels, present, gamma: float) -> torch.Tensor:
    total, weight_sum = states.new_zeros(()), 0.0
    for n in range(states.shape[0]):
        confidence = []
        for k in range(states.shape[1]):
            q = torch.softmax(states[n, k] @ head, 0)
            confidence.append((1 - o.alpha) * float(q[labels[n, k]].detach()) + o.alpha)
        for k in range(states.shape[1]):
            if not present[n, k]:
                continue
            logits, target = states[n, k] @ head, final[n, k] @ head
            slot = -o.ce * torch.log(torch.softmax(logits, 0)[labels[n, k]])
            p = torch.softmax(target / o.kl_temperature, 0)
            q = torch.softmax(logits / o.kl_temperature, 0)
            slot = slot + o.kl * sum(p[v] * torch.log(p[v] / q[v]) for v in range(p.numel()))
            weight = {"decay": math.exp(-k / gamma), "uniform": 1.0}.get(o.weighting)
            if weight is None:
                weight = 0.0
                for m in range(k, states.shape[1]):
                    if present[n, m]:
                        weight += math.prod(confidence[i] for i in range(m + 1) if present[n, i])
            total = total + weight * slot
            weight_sum += 1.0 if o.weighting == "dpace" else weight
    return total / weight_sum


OBJECTIVES = [
    Objective(gamma=4.0),
    Objective(weighting="uniform", ce=0.5, kl=2.0, kl_temperature=0.7),
    Objective(weighting="dpace"),
    Objective(weighting="dpace", ce=1.0, kl=1.0),
    Objective(ce=0.0, kl=1.0, kl_temperature=0.7, gamma=2.0),
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize("chunk_bytes", [1, 300, 10**9])
def test_chunked_loss_and_gradient_equal_a_loop(objective: Objective, chunk_bytes: int) -> None:
    states, final, head, labels, present = case()
    expected = loop_reference(objective, states, final, head, labels, present, objective.gamma or 1.0)
    (expected_grad,) = torch.autograd.grad(expected, states)
    loss, stats = block_loss(
        states,
        labels,
        present,
        lambda x: x @ head,
        objective,
        objective.denominator(present),
        final if objective.needs_target_logits else None,
        chunk_bytes,
    )
    (grad,) = torch.autograd.grad(loss, states)
    torch.testing.assert_close(loss, expected, atol=1e-7, rtol=1e-6)
    torch.testing.assert_close(grad, expected_grad, atol=1e-7, rtol=1e-6)
    hits = ((states @ head).argmax(-1) == labels) & present
    assert stats.correct.tolist() == hits.sum(0).tolist()
    assert stats.blocks == int(present.any(-1).sum())
    assert stats.prefix == sum(int(row.int().cumprod(0).sum()) for row in hits)


def test_micro_batches_add_up_to_the_whole() -> None:
    states, _, head, labels, present = case()
    objective = Objective()
    denominator = objective.denominator(present)
    whole, _ = block_loss(states, labels, present, lambda x: x @ head, objective, denominator)
    parts = [
        block_loss(states[s], labels[s], present[s], lambda x: x @ head, objective, denominator)[0]
        for s in (slice(0, 1), slice(1, 7))
    ]
    torch.testing.assert_close(sum(parts), whole)


def test_dpace_without_confidence_is_flat_in_alpha_one() -> None:
    weights = dpace(torch.zeros(1, 4), torch.ones(1, 4, dtype=torch.bool), 1.0)
    assert weights.tolist() == [[4.0, 3.0, 2.0, 1.0]]


def test_paper_gammas() -> None:
    assert [default_gamma(b) for b in (16, 10, 8)] == [7.0, 5.0, 4.0]


@pytest.mark.parametrize(
    "bad",
    [
        {"ce": 0.0},
        {"ce": -1.0},
        {"weighting": "fast"},
        {"gamma": 0.0},
        {"alpha": 0.0},
        {"kl_temperature": 0.0},
        {"weighting": "dpace", "ce": 0.0, "kl": 1.0},
    ],
)
def test_meaningless_objectives_raise(bad: dict) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        Objective(**bad)
