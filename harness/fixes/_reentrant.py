"""One value of ``use_reentrant`` for every checkpoint."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._replaced import replaced


@contextmanager
def always(use_reentrant: bool) -> Iterator[None]:
    """Whatever ``torch.utils.checkpoint.checkpoint`` is given; callers that imported the function before keep theirs."""
    import torch.utils.checkpoint

    module: Any = torch.utils.checkpoint
    original = module.checkpoint

    @functools.wraps(original)
    def checkpoint(function: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs["use_reentrant"] = use_reentrant
        return original(function, *args, **kwargs)

    with replaced(module, "checkpoint", checkpoint):
        yield
