"""The scenario is the trainer's own step: it needs torch alone, its check can fail, and plain threads pass it."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest
import torch

from dflash.attention import flex
from dflash.scenarios import trainer_threads
from harness.control import marks
from harness.fixes.thread_local_fx import thread_local_fx

AXES = {"threads": 4, "checkpointing": "none", "compile": "per_thread", "shapes": "same"}


def plainly(axes: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The bodies in threads of the interpreter; what one raised stands for what it returned."""
    shared = trainer_threads.SCENARIO.setup(axes)
    results: list[Any] = [None] * axes["threads"]

    def live(index: int) -> None:
        marks.plain.index = index
        try:
            results[index] = trainer_threads.SCENARIO.body(index)(shared)
        except RuntimeError as error:
            results[index] = error

    threads = [threading.Thread(target=live, args=(i,)) for i in range(axes["threads"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return shared, results


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(flex, "CPU_BACKEND", flex.CPU_BACKEND)
    yield
    flex.forget()
    torch._dynamo.reset()


def test_plain_threads_pass_and_the_check_sees_damage(backend) -> None:
    with thread_local_fx():
        shared, results = plainly(AXES)
    assert results[1:] == ["done"] * 3
    ours = [p.grad for p in shared.drafter.parameters()]

    def judged(change) -> str:
        for parameter, gradient in zip(shared.drafter.parameters(), ours, strict=True):
            parameter.grad = gradient.clone()
        changed = change() or results
        try:
            trainer_threads.check(shared, changed)
        except AssertionError as error:
            return str(error)
        return ""

    assert judged(lambda: None) == ""
    assert "wrong gradient of fc.weight" in judged(lambda: shared.drafter.fc.weight.grad.add_(0.01) is None)
    assert "wrong loss" in judged(lambda: [results[0] + 0.1, *results[1:]])

    def uncounted() -> None:
        shared.counting.ran[3] = 0

    assert "T3 ran compiled attention 0 times, not 1" in judged(uncounted)


def test_it_needs_torch_alone() -> None:
    code = """
import sys
for name in ("safetensors", "transformers", "pydantic", "tqdm", "pytest", "hypothesis"):
    sys.modules[name] = None
import dflash.scenarios.trainer_threads as scenario
scenario.Shared({"threads": 4, "checkpointing": "reentrant", "compile": "shared", "shapes": "new"})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_failure_is_the_threads_that_had_it(backend, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = RuntimeError("planted")

    def work(self, made):
        raise planted

    worker = trainer_threads.Threads.__init__.__globals__["DrafterWorker"]
    monkeypatch.setattr(worker, "work", work)
    _, results = plainly(AXES)
    assert (results[0], results[1]) == (0.0, "stopped")
    assert sorted(str(r) for r in results[2:]) == ["planted", "stopped"]
