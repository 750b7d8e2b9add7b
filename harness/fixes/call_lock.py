"""One lock around every call of a compiled function.

Must be in force before ``torch.compile(fn)`` is called. A trace of the user's own does not take it, nor does a
backward.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ._compiled_calls import around_compiled_calls

LOCK = True


@contextmanager
def call_lock() -> Iterator[None]:
    """Wrap what ``torch.compile`` returns, functions and modules alike, in one re-entrant lock."""
    lock = threading.RLock()
    with around_compiled_calls(lambda: lock):
        yield
