"""Garbage collection as a decision: off in a run, on demand at a point."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def now(generation: int) -> None:
    # Finalizers are real code: let their points be seen although a trace callback may be running.
    sys.call_tracing(gc.collect, (generation,))


@contextmanager
def on_demand_only() -> Iterator[None]:
    """Automatic collection is off; what was planted before the run stays where it is."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
