"""A code object that Dynamo made. The frame that ran it is kept by an exception's traceback, and the exception by the
frame that caught it, as after ``except ValueError as error: kept = error``.

When it dies, Dynamo's own weakref callbacks take its names out of the globals of the function's module.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any
from weakref import finalize

import torch
from torch._dynamo.eval_frame import reset_code


@torch._dynamo.disable
def refuse() -> None:
    """Not compiled: a graph break, behind which the rest of the caller would go on."""
    raise ValueError("refused")


def refused(x: Any) -> Any:
    y = x + 1
    refuse()
    return y


def failure(function: Callable[[Any], Any], x: Any) -> tuple[ValueError, CodeType]:
    """Compile ``function``, which fails with ValueError behind a graph break: (the exception, in a cycle with its own
    traceback; the code that Dynamo made). Dynamo's cache forgets the code. Raises RuntimeError where it made none.
    """
    kept = None
    try:
        torch.compile(function, backend="eager")(x)
    except ValueError as error:
        kept = error  # and this frame, which keeps it, is in its traceback
    plain = getattr(function, "__code__", None)
    if kept is not None:
        tb = kept.__traceback__
        while tb is not None:
            code = tb.tb_frame.f_code
            if plain is not None and code.co_name == plain.co_name and code is not plain:
                reset_code(plain)
                return kept, code
            tb = tb.tb_next
    raise RuntimeError(f"{function}: Dynamo made no code that failed")


def make(callback: Callable[[], object]) -> ValueError:
    error, code = failure(refused, torch.zeros(1))
    finalize(code, callback).atexit = False
    return error
