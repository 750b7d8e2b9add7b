"""One lock around compiled calls, the user's own traces, and backward with the recompute in it.

Must be in force before ``torch.compile(fn)`` is called. A recompute in a thread of the autograd engine, as on CUDA,
waits for the lock that the thread in backward has: a deadlock.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ._compiled_calls import around_compiled_calls
from ._replaced import replaced


@contextmanager
def trace_lock() -> Iterator[None]:
    """The same re-entrant lock for all of it."""
    import torch
    import torch.fx.experimental.proxy_tensor as proxy_tensor

    lock = threading.RLock()
    autograd: Any = torch.autograd
    places = [
        (torch.fx.Tracer, "trace"), (proxy_tensor._MakefxTracer, "trace"), (autograd, "backward"), (autograd, "grad"),
        (torch.Tensor, "backward"),
    ]  # fmt: skip
    with ExitStack() as stack:
        stack.enter_context(around_compiled_calls(lambda: lock))
        for owner, name in places:
            stack.enter_context(replaced(owner, name, _locked(vars(owner)[name], lock)))
        yield


def _locked(original: Any, lock: Any) -> Any:

    @functools.wraps(original)
    def locked(*args: Any, **kwargs: Any) -> Any:
        with lock:
            return original(*args, **kwargs)

    return locked
