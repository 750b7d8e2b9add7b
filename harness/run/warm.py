"""Torch imported and warm in a process that is safe to fork."""

from __future__ import annotations

import importlib.util
import os
import sys
from functools import cache
from types import CodeType
from typing import Any

from harness.control import shield
from harness.errors import UserError

#: Modules whose functions torch's frame hook is told to skip.
_OURS = ("harness.control", "harness.run", "harness.search.pct", "harness.search.surw", "harness.search.walk")


def torch() -> None:
    """Import torch and let it load what it loads lazily, without starting a thread, CUDA or a backward.

    Environment first: an Inductor pool or a second OpenMP thread in the parent makes children hang.
    """
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    import torch

    torch.set_num_threads(1)
    _a_pool_for_each_child()
    if importlib.util.find_spec("tqdm") is not None:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # where it is installed, AOT's interpreter starts its monitor thread
    import torch._dynamo
    import torch.fx.experimental.proxy_tensor
    import torch.utils.checkpoint
    from torch.fx.experimental.proxy_tensor import make_fx

    # Dynamo flushes the processor's caches after every compile to measure its guards for a log line: two thirds of a
    # small compile, and no effect but that line.
    if hasattr(torch._dynamo.guards, "profile_guard_manager"):
        torch._dynamo.guards.profile_guard_manager = lambda *_: 0.0

    def small(x: Any) -> Any:
        return torch.sin(x * 2 + 1)

    x = torch.ones(4)
    torch.compile(small, backend="eager")(x)
    torch.compile(small, backend="aot_eager")(x)  # without gradients: a CUDA build would start its autograd threads
    make_fx(small)(x)
    torch.fx.symbolic_trace(small)
    torch._dynamo.reset()


@cache
def _a_pool_for_each_child() -> None:
    """Let each forked child make its pool of threads while it is alone.

    Torch makes the pool that a fork has lost anew where it is first asked for, without a lock. The threads of the autograd
    engine (in a CUDA build several, whether or not there is a device) ask for it all at once, and what they then meet,
    "Invalid thread pool!", ends the process. Which of them comes first no schedule decides.
    """
    import torch

    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(torch.get_num_threads()))


def threads_now() -> frozenset[str]:
    """The threads of this process as the kernel counts them; empty where it does not tell."""
    tasks = "/proc/self/task"
    return frozenset(os.listdir(tasks)) if os.path.isdir(tasks) else frozenset()


def assert_single_threaded(who: str, ours: frozenset[str] = frozenset()) -> None:
    """Raises UserError when a thread was started: a child forked now would hang where that thread was needed. ``ours``
    may still be there."""
    if len(threads_now() - ours - {str(os.getpid())}) > 0:
        raise UserError(f"{who} started a thread in the process that runs are forked from; do that in set-up or a body")


class hook_off:
    """Dynamo's frame hook is off in this thread meanwhile."""

    def __enter__(self) -> None:
        self._prior = _set_hook()(None)

    def __exit__(self, *_: object) -> None:
        _set_hook()(self._prior)


def _set_hook() -> Any:
    """By attributes: the module of C that it is from can't be imported in torch 2.0."""
    return sys.modules["torch._C"]._dynamo.eval_frame.set_eval_frame


def hide_from_dynamo() -> None:
    """Dynamo's frame hook is handed our callbacks (Python 3.11) and our locks' methods: tell it to skip them."""
    import harness.search.online  # noqa: F401 (a run imports it where it needs it, which would be too late)

    shield.use(hook_off)
    skip = getattr(sys.modules["torch._dynamo.eval_frame"], "skip_code", None)
    if skip is None:
        return
    for name, module in list(sys.modules.items()):
        if name.startswith(_OURS):
            for value in list(vars(module).values()):
                _skip(value, skip, name, set())


def _skip(value: Any, skip: Any, module: str, seen: set[int]) -> None:
    home = getattr(value, "__module__", None)
    # What ``NamedTuple`` makes a class with says that it is of a module that there isn't.
    if id(value) in seen or (home != module and not str(home).startswith("namedtuple_")):
        return
    seen.add(id(value))
    if isinstance(value, type):
        for member in list(vars(value).values()):
            _skip(getattr(member, "__func__", getattr(member, "fget", member)), skip, module, seen)
        return
    code = getattr(value, "__code__", None)
    if code is not None:
        _skip_code(code, skip)


def _skip_code(code: CodeType, skip: Any) -> None:
    skip(code)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            _skip_code(const, skip)
