"""The flag of ``torch.fx`` is set False before each compiled call.

Must be in force before ``torch.compile(fn)`` is called. A trace that is going on elsewhere loses its flag.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ._compiled_calls import around_compiled_calls
from ._flag import flag_module


@contextmanager
def flag_each_call() -> Iterator[None]:
    """Raises RuntimeError where there is no such flag (torch 2.14 and later)."""
    module = flag_module()

    @contextmanager
    def around() -> Iterator[None]:
        module._is_fx_tracing_flag = False
        yield

    with around_compiled_calls(around):
        yield
