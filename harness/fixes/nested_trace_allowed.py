"""``torch._dynamo.config.error_on_nested_fx_trace = False``, set in the thread that puts the fix in force.

A call during a trace then runs *eagerly*. From 2.12 on the setting is a context's own: other threads don't see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nested_trace_allowed() -> Iterator[None]:
    import torch._dynamo.config as config

    with config.patch(error_on_nested_fx_trace=False):
        yield
