"""The flag of ``torch.fx`` is set False once, through the package, when the fix is put in force."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def flag_once() -> Iterator[None]:
    """What comes later sets it again. Raises RuntimeError where there is no such flag (torch 2.14 and later)."""
    from ._flag import flag_module

    flag_module()._is_fx_tracing_flag = False
    yield
