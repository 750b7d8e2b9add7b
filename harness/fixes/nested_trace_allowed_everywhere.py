"""``torch._dynamo.config.error_on_nested_fx_trace = False``, set in each thread when it makes a compiled call.

Must be in force before ``torch.compile(fn)`` is called. A call during a trace then runs *eagerly*.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ._compiled_calls import around_compiled_calls


@contextmanager
def nested_trace_allowed_everywhere() -> Iterator[None]:
    import torch._dynamo.config as config

    @contextmanager
    def around() -> Iterator[None]:
        config.error_on_nested_fx_trace = False  # for good: to put it back would take it from another thread's call
        yield

    before = config.error_on_nested_fx_trace
    with around_compiled_calls(around):
        try:
            yield
        finally:
            config.error_on_nested_fx_trace = before
