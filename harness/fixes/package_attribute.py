"""The package ``torch.fx`` has a stand-in as its attribute ``_symbolic_trace``, with a flag of each thread's own.

``torch.fx._symbolic_trace._is_fx_tracing_flag`` then reads and writes the stand-in's; functions read the dictionary
they were defined in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._flag import flag_module
from ._replaced import replaced
from ._shim import shim_of


@contextmanager
def package_attribute() -> Iterator[None]:
    """Raises RuntimeError where there is no such flag (torch 2.14 and later)."""
    import torch.fx

    package: Any = torch.fx
    with replaced(package, "_symbolic_trace", shim_of(flag_module())):
        package._symbolic_trace._is_fx_tracing_flag = False
        yield
