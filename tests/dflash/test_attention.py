from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import torch
from layouts import random_layout, small_config
from torch.nn.attention import flex_attention as torch_flex

from dflash import attention
from dflash.attention.dense import CHUNK_QUERIES, DenseAttention
from dflash.attention.flex import gradients_on_cpu
from dflash.masks import Layout
from dflash.model import Attend, Drafter, DrafterConfig


def run(
    backend: str | Callable[[DrafterConfig, Layout], Attend],
    config: DrafterConfig,
    seed: int,
    dtype: torch.dtype = torch.float32,
    **layout_args: int,
):
    layout = random_layout(seed, size=config.block_size, **layout_args)
    g = torch.Generator().manual_seed(seed)
    model = Drafter(config).initialize(g).to(dtype)
    rows, length = layout.documents.shape
    block = torch.randn(rows, layout.queries, config.hidden_size, generator=g).to(dtype).requires_grad_()
    features = torch.randn(rows, length, 2 * config.hidden_size, generator=g).to(dtype).requires_grad_()
    make = attention.BACKENDS[backend] if isinstance(backend, str) else backend
    attend = make(config, layout)
    out = model(block, features, layout.query_positions(), layout.positions, attend)
    weight = torch.randn(out.shape, generator=g).to(dtype)
    grads = torch.autograd.grad((out * weight).sum(), [block, features, *model.parameters()])
    return out, grads


def whole(config: DrafterConfig, layout: Layout) -> DenseAttention:
    """Every query against every key in one call: the plain reference."""
    return DenseAttention(config, layout, layout.queries)


SLIDING = {"layer_types": ("full_attention", "sliding_attention"), "sliding_window": 5}


@pytest.mark.parametrize("backend", ["sdpa", "flex"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        SLIDING,
        {"num_key_value_heads": 4},
        {"causal": True},
        {**SLIDING, "causal": False, "sliding_window": 3},
    ],
)
def test_backends_agree_with_one_dense_mask(backend: str, changes: dict) -> None:
    config = small_config(**changes)
    for seed in range(2):
        expected, expected_grads = run(whole, config, seed)
        out, grads = run(backend, config, seed)
        torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
        for got, want in zip(grads, expected_grads, strict=True):
            torch.testing.assert_close(got, want, atol=2e-4, rtol=1e-3)


@pytest.mark.parametrize("backend", ["sdpa", "flex"])
def test_over_several_chunks_in_double(backend: str) -> None:
    config = small_config(**SLIDING)
    blocks = CHUNK_QUERIES // config.block_size * 2 + 3
    expected, expected_grads = run(whole, config, 5, torch.float64, length=600, blocks=blocks)
    out, grads = run(backend, config, 5, torch.float64, length=600, blocks=blocks)
    torch.testing.assert_close(out, expected, atol=1e-9, rtol=1e-9)
    for got, want in zip(grads, expected_grads, strict=True):
        torch.testing.assert_close(got, want, atol=1e-9, rtol=1e-7)


def test_patch_is_taken_back_when_the_last_thread_leaves() -> None:
    original = torch_flex._validate_device
    inside, leave = threading.Barrier(3), threading.Event()

    def hold() -> None:
        with gradients_on_cpu():
            inside.wait()
            leave.wait()

    threads = [threading.Thread(target=hold) for _ in range(2)]
    for thread in threads:
        thread.start()
    inside.wait()
    with pytest.raises(KeyError), gradients_on_cpu():
        raise KeyError
    assert torch_flex._validate_device is not original
    leave.set()
    for thread in threads:
        thread.join()
    assert torch_flex._validate_device is original


def test_unknown_backend() -> None:
    with pytest.raises(ValueError, match="use one of sdpa, flex"):
        attention.build("fast", small_config(), random_layout(0))
