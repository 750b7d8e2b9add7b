"""``torch._dynamo.config.force_compile_during_fx_trace = True`` (torch 2.11 and later), in each thread that calls.

Must be in force before ``torch.compile(fn)`` is called. Calls compile and run in the middle of a foreign trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._compiled_calls import around_compiled_calls


@contextmanager
def force_compile() -> Iterator[None]:
    """Raises RuntimeError on a release without the setting."""
    import torch
    import torch._dynamo.config

    config: Any = torch._dynamo.config
    if not hasattr(config, "force_compile_during_fx_trace"):
        raise RuntimeError(f"torch {torch.__version__} has no torch._dynamo.config.force_compile_during_fx_trace")
    before = config.force_compile_during_fx_trace

    @contextmanager
    def around() -> Iterator[None]:
        config.force_compile_during_fx_trace = True
        yield

    with around_compiled_calls(around):
        try:
            yield
        finally:
            config.force_compile_during_fx_trace = before
