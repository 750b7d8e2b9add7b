from __future__ import annotations

import threading

import pytest
import torch
from layouts import random_layout, small_config
from torch.nn.attention import flex_attention as torch_flex

from dflash import attention
from dflash.attention.flex import gradients_on_cpu
from dflash.attention.split import CHUNK_QUERIES
from dflash.model import Drafter, DrafterConfig


def run(
    backend: str, config: DrafterConfig, seed: int, dtype: torch.dtype = torch.float32, **layout_args: int
):
    layout = random_layout(seed, size=config.block_size, **layout_args)
    g = torch.Generator().manual_seed(seed)
    model = Drafter(config).initialize(g).to(dtype)
    rows, length = layout.documents.shape
    block = torch.randn(rows, layout.queries, config.hidden_size, generator=g).to(dtype).requires_grad_()
    features = torch.randn(rows, length, 2 * config.hidden_size, generator=g).to(dtype).requires_grad_()
    attend = attention.build(backend, config, layout)
    out = model(block, features, layout.query_positions(), layout.positions, attend)
    weight = torch.randn(out.shape, generator=g).to(dtype)
    grads = torch.autograd.grad((out * weight).sum(), [block, features, *model.parameters()])
    return out, grads


SLIDING = {"layer_types": ("full_attention", "sliding_attention"), "sliding_window": 5}


@pytest.mark.parametrize("backend", ["flex", "split"])
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
def test_backends_agree_with_sdpa(backend: str, changes: dict) -> None:
    config = small_config(**changes)
    for seed in range(2):
        expected, expected_grads = run("sdpa", config, seed)
        out, grads = run(backend, config, seed)
        torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
        for got, want in zip(grads, expected_grads, strict=True):
            torch.testing.assert_close(got, want, atol=2e-4, rtol=1e-3)


def test_split_over_several_chunks_in_double() -> None:
    config = small_config(**SLIDING)
    blocks = CHUNK_QUERIES // config.block_size * 2 + 3
    expected, expected_grads = run("sdpa", config, 5, torch.float64, length=600, blocks=blocks)
    out, grads = run("split", config, 5, torch.float64, length=600, blocks=blocks)
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
    with pytest.raises(ValueError, match="use one of sdpa, flex, split"):
        attention.build("fast", small_config(), random_layout(0))
