"""``sys.modules`` has a stand-in for ``torch.fx._symbolic_trace``, with a flag of each thread's own.

What was imported before keeps the module it has, and functions read the dictionary they were defined in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ._flag import flag_module
from ._shim import shim_of

_NAME = "torch.fx._symbolic_trace"


@contextmanager
def sys_modules_shim() -> Iterator[None]:
    """Later imports by name get the stand-in. Raises RuntimeError where there is no such flag (torch 2.14 and later)."""
    original = flag_module()
    sys.modules[_NAME] = shim_of(original)
    try:
        yield
    finally:
        sys.modules[_NAME] = original
