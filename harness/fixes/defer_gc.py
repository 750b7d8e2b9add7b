"""No automatic collection inside a trace or a compile: what is due then waits for the end of the last one."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ._replaced import replaced
from ._traces import around_traces, within


@contextmanager
def defer_gc() -> Iterator[None]:
    """``gc.disable`` is for all threads: the collector is on again when no thread traces or compiles any more.

    A reference count that falls to zero still finalizes at once, and so does ``gc.collect()``, Dynamo's own included.
    """
    from torch._dynamo import convert_frame

    lock, inside, was_on = threading.RLock(), 0, False

    @contextmanager
    def deferred() -> Iterator[None]:
        nonlocal inside, was_on
        with lock:
            inside += 1
            if inside == 1:
                was_on = gc.isenabled()
                gc.disable()
        try:
            yield
        finally:
            with lock:
                inside -= 1
                if was_on and not inside:
                    gc.enable()  # under the lock, or it would be on in a trace that has just begun

    compiles: Any = convert_frame
    with ExitStack() as stack:
        stack.enter_context(around_traces(deferred))
        stack.enter_context(replaced(compiles, "_compile", within(deferred, compiles._compile)))
        yield
