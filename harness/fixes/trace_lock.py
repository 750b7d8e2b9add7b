"""One lock around compiled calls, the user's own traces, and backward with the recompute in it.

Must be in force before ``torch.compile(fn)`` is called. A recompute in a thread of the autograd engine, as on CUDA,
waits for the lock that the thread in backward has: a deadlock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ._compiled_calls import around_compiled_calls
from ._replaced import replaced
from ._traces import around_traces, within

LOCK = True


@contextmanager
def trace_lock() -> Iterator[None]:
    """The same re-entrant lock for all of it."""
    import torch

    lock = threading.RLock()
    autograd: Any = torch.autograd
    with ExitStack() as stack:
        stack.enter_context(around_compiled_calls(lambda: lock))
        stack.enter_context(around_traces(lambda: lock))
        for owner, name in ((autograd, "backward"), (autograd, "grad"), (torch.Tensor, "backward")):
            stack.enter_context(replaced(owner, name, within(lambda: lock, vars(owner)[name])))
        yield
