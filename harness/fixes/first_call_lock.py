"""One lock around the first compiled call of each thread, so that first compiles come one after the other.

Must be in force before ``torch.compile(fn)`` is called. Later calls, traces and recompiles take no lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ._compiled_calls import around_compiled_calls

LOCK = True


@contextmanager
def first_call_lock() -> Iterator[None]:
    """A thread that has made one compiled call goes unlocked from then on."""
    lock, mine = threading.RLock(), threading.local()

    @contextmanager
    def first() -> Iterator[None]:
        with lock:
            yield
        mine.called = True

    def around() -> AbstractContextManager[object]:
        return nullcontext() if getattr(mine, "called", False) else first()

    with around_compiled_calls(around):
        yield
