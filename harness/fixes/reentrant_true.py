"""Every checkpoint has ``use_reentrant=True`` (pytorch #179614).

The recompute passes the guard of a compiled function either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ._reentrant import always


@contextmanager
def reentrant_true() -> Iterator[None]:
    """In force for calls of ``torch.utils.checkpoint.checkpoint`` by that name."""
    with always(use_reentrant=True):
        yield
