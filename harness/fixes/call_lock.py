"""One lock around every call of a compiled function.

Must be in force before ``torch.compile(fn)`` is called. A trace of the user's own does not take it, nor does a
backward.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def call_lock() -> Iterator[None]:
    """Wrap what ``torch.compile`` returns, functions and modules alike, in one re-entrant lock."""
    from torch._dynamo import eval_frame

    context: Any = eval_frame.OptimizeContext

    lock = threading.RLock()
    original = context.__call__

    @functools.wraps(original)
    def compiled(self: Any, function: Any) -> Any:
        result = original(self, function)
        if not hasattr(result, "__code__"):
            return result  # a module: its forward came through here as a function

        @functools.wraps(result)
        def locked(*args: Any, **kwargs: Any) -> Any:
            with lock:
                return result(*args, **kwargs)

        return locked

    own = "__call__" in vars(context)
    context.__call__ = compiled
    try:
        yield
    finally:
        if own:
            context.__call__ = original
        else:
            del context.__call__
