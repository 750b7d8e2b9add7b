"""The guard asks whether *this thread* is tracing, instead of reading the flag of the process.

Must be in force before ``torch.compile(fn)`` is called: the wrapper captures the guard function at that moment.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ._replaced import replaced


@contextmanager
def function_patch() -> Iterator[None]:
    """Replace ``is_fx_tracing`` and ``is_fx_symbolic_tracing`` by thread-local versions (pytorch #126024)."""
    import torch
    import torch._higher_order_ops.utils
    import torch.fx._symbolic_trace

    hop: Any = torch._higher_order_ops.utils
    fx: Any = torch.fx._symbolic_trace

    mine = threading.local()
    trace, environment = fx.Tracer.trace, hop._set_compilation_env
    names = [name for name in ("is_fx_tracing", "is_fx_symbolic_tracing") if hasattr(fx, name)]

    @contextmanager
    def tracing(value: bool) -> Iterator[None]:
        before = getattr(mine, "tracing", False)
        mine.tracing = value
        try:
            yield
        finally:
            mine.tracing = before

    @functools.wraps(trace)
    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        with tracing(True):
            return trace(self, *args, **kwargs)

    @contextmanager
    def own_environment() -> Iterator[None]:
        with environment(), tracing(False):
            yield

    def is_tracing() -> bool:
        return getattr(mine, "tracing", False)

    def is_symbolic_tracing() -> bool:
        return is_tracing() and not torch.compiler.is_compiling()

    patched: dict[str, Callable[[], bool]] = {
        "is_fx_tracing": is_tracing,
        "is_fx_symbolic_tracing": is_symbolic_tracing,
    }
    with ExitStack() as stack:
        stack.enter_context(replaced(fx.Tracer, "trace", traced))
        stack.enter_context(replaced(hop, "_set_compilation_env", own_environment))
        for name in names:
            stack.enter_context(replaced(fx, name, patched[name]))
        yield
