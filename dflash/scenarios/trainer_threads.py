"""The story's program: one step of the threaded pipeline, each drafter thread compiling flex attention.

Nothing here is made for a race. The threads are the trainer's own loops over its own queues: T0 coordinates, T1
runs the target, all others are drafters, which compile, run forward and backward, and recompute checkpointed
layers. The step must give the loss and the gradient that one thread gives.
"""

from __future__ import annotations

from typing import Any

import torch

import dflash.attention.flex as flex
from dflash.data.random_rows import RandomRows
from dflash.loss import Objective
from dflash.model import Drafter, DrafterConfig
from dflash.pipeline import PipelineSettings, Threads
from dflash.pipeline.board import Stopped
from dflash.target import TinyConfig, TinyTarget
from dflash.train import Settings, checkpointing
from dflash.train.plan import Plan, draw
from dflash.train.step import features_of, loss_of
from harness import TORCH_MODULES, Axes, Scenario, thread_index

_LENGTH, _BLOCK, _LAYERS = 16, 4, 1
_OTHERS = 2  # threads that are no drafters
_SIZES: dict[str, Any] = {
    "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 1, "num_key_value_heads": 1,
    "head_dim": 16, "vocab_size": 24,
}  # fmt: skip


class Counting:
    """`aot_eager`, counting by thread how often a compiled graph ran: uncompiled attention would not count."""

    def __init__(self, threads: int) -> None:
        self.ran = [0] * threads

    def __call__(self, graph: Any, inputs: Any) -> Any:
        from torch._dynamo.backends.debugging import aot_eager

        compiled = aot_eager(graph, inputs)

        def run(*arguments: Any) -> Any:
            if 0 <= thread_index() < len(self.ran):
                self.ran[thread_index()] += 1
            return compiled(*arguments)

        return run


class Shared:
    """A pipeline whose step has been planned; none of its threads runs yet."""

    def __init__(self, axes: Axes) -> None:
        drafters = axes["threads"] - _OTHERS
        self.target = TinyTarget(TinyConfig(num_hidden_layers=4, **_SIZES))
        self.target.initialize(torch.Generator().manual_seed(0), 0.3).freeze()
        config = DrafterConfig(
            num_hidden_layers=_LAYERS, block_size=_BLOCK, mask_token_id=_SIZES["vocab_size"] - 1,
            target_layer_ids=(1,), num_target_layers=4, **_SIZES,
        )  # fmt: skip
        self.drafter = Drafter(config).initialize(torch.Generator().manual_seed(1)).train()
        self.checkpointing: str = axes["checkpointing"]
        micro = drafters * (2 if axes["shapes"] == "new" else 1)
        settings = Settings(
            steps=1, anchors=2, accumulation=micro, attention="flex", checkpointing=self.checkpointing
        )
        self.objective = Objective()
        lengths = (_LENGTH, 2 * _LENGTH) if axes["shapes"] == "new" else (_LENGTH,)  # attention compiles anew for each
        rows = RandomRows(_SIZES["vocab_size"] - 1, *lengths)
        self.planned = draw(rows, config, settings, self.objective, 0)
        self.micro = micro // drafters
        self.counting = flex.CPU_BACKEND = Counting(axes["threads"])
        flex.forget()
        how = PipelineSettings(("cpu",), ("cpu",) * drafters, depth=micro, compile=axes["compile"])
        self.threads = Threads(
            how, settings, self.drafter, self.target, self.objective, lambda step: self.planned, 0, 1
        )
        self.threads.feeder.run()  # its queues are as deep as the step
        self.gradients: list[torch.Tensor] = []


def coordinate(shared: Shared) -> float:
    """The step's loss; the gradient stays in the drafter."""
    threads = shared.threads
    try:
        with torch.no_grad():
            loss, _ = threads.gradients(threads.plan())
    except Stopped:
        return 0.0  # the thread that failed tells
    threads.board.stop()
    return round(loss, 4)


def read(shared: Shared) -> str:
    """The target worker's loop."""
    return _lives(shared, "target", shared.threads.targets[0])


def train(shared: Shared) -> str:
    """A drafter worker's loop."""
    return _lives(shared, f"drafter {thread_index()}", shared.threads.drafters[thread_index() - _OTHERS])


def _lives(shared: Shared, name: str, worker: Any) -> str:
    """As the pipeline runs it; a failure of its own is the thread's."""
    board = shared.threads.board
    with board.at_work(name):
        worker.run()
    if board.failure is not None and board.failure.who == name:
        raise board.failure.error
    return "stopped" if board.failure is not None else "done"


def check(shared: Shared, results: list[Any]) -> None:
    """Loss and gradient are those of one thread without flex attention; every attention ran compiled."""
    if shared.threads.failure is not None:
        return  # an error is told as one
    found = [parameter.grad for parameter in shared.drafter.parameters()]
    loss, wanted = _alone(shared, shared.planned)
    assert abs(results[0] - loss) < 1e-3, f"wrong loss: {results[0]}, alone {loss:.4f}"
    for name, ours, theirs in zip(dict(shared.drafter.named_parameters()), found, wanted, strict=True):
        assert ours is not None, f"no gradient of {name}"
        assert torch.allclose(ours, theirs, atol=1e-4, rtol=1e-3), f"wrong gradient of {name}"
    runs = _LAYERS * shared.micro * (1 if shared.checkpointing == "none" else 2)
    for index, ran in enumerate(shared.counting.ran[_OTHERS:], _OTHERS):
        assert ran == runs, f"T{index} ran compiled attention {ran} times, not {runs}"


def _alone(shared: Shared, plan: Plan) -> tuple[float, list[torch.Tensor]]:
    drafter, loss = shared.drafter, 0.0
    checkpointing.remove(drafter)
    drafter.zero_grad(set_to_none=True)
    for prepared in plan.micro:
        output = features_of(shared.target, prepared.batch, drafter.config.target_layer_ids)
        part, _ = loss_of(drafter, shared.target, prepared, output, shared.objective, plan.denominator, "sdpa")
        part.backward()
        loss += float(part.detach())
    return loss, [p.grad for p in drafter.parameters() if p.grad is not None]


def prepare() -> None:
    """What torch loads lazily, without a backward: that would start the autograd engine's threads in some builds."""
    shared = Shared({"threads": 1 + _OTHERS, "checkpointing": "none", "compile": "shared", "shapes": "same"})
    (prepared,) = shared.planned.micro
    output = features_of(shared.target, prepared.batch, shared.drafter.config.target_layer_ids)
    with torch.no_grad():
        for backend in ("flex", "sdpa"):
            loss_of(shared.drafter, shared.target, prepared, output, shared.objective, 1.0, backend)
    torch._dynamo.reset()


SCENARIO = Scenario(
    bodies=[coordinate, read, *[train] * 8],
    setup=Shared,
    fork_after_setup=True,
    prepare=prepare,
    check=check,
    summary="a step of the threaded pipeline: coordinator, target, drafters that compile flex attention",
    axes={
        "checkpointing": ["none", "reentrant", "non_reentrant"],
        "compile": ["per_thread", "shared"],
        "shapes": ["same", "new"],
    },
    modules=(*TORCH_MODULES, "dflash.attention", "dflash.pipeline"),
    points=("names", "releases"),  # of the objects that the threads share, every access is under the board's lock
    threads=(_OTHERS + 2, _OTHERS + 8),
    seconds=900.0,
)
