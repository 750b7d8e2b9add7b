"""Something around every call of what ``torch.compile`` returns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ._replaced import replaced


@contextmanager
def around_compiled_calls(around: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
    """For functions and modules that ``torch.compile`` is given meanwhile; ``around()`` is made anew for each call."""
    from torch._dynamo import eval_frame

    context: Any = eval_frame.OptimizeContext
    original = context.__call__

    @functools.wraps(original)
    def compiled(self: Any, function: Any) -> Any:
        result = original(self, function)
        if not hasattr(result, "__code__"):
            return result  # a module: its forward came through here as a function

        @functools.wraps(result)
        def called(*args: Any, **kwargs: Any) -> Any:
            with around():
                return result(*args, **kwargs)

        return called

    with replaced(context, "__call__", compiled):
        yield
