"""Something around every FX trace, Dynamo's own included."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from ._replaced import replaced


@contextmanager
def around_traces(around: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
    """``Tracer.trace`` and the one of ``make_fx``; ``around()`` is made anew for each call."""
    import torch.fx
    import torch.fx.experimental.proxy_tensor as proxy_tensor
    from torch._dynamo import eval_frame

    # The first compile patches Tracer.trace for good: now, so that what is put back afterwards has that patch.
    patcher: Any = eval_frame.TorchPatcher
    patcher.patch()
    with ExitStack() as stack:
        for owner in (torch.fx.Tracer, proxy_tensor._MakefxTracer):
            stack.enter_context(replaced(owner, "trace", within(around, vars(owner)["trace"])))
        yield


def within(around: Callable[[], AbstractContextManager[object]], original: Any) -> Any:
    """``original``, called inside ``around()``."""

    @functools.wraps(original)
    def called(*args: Any, **kwargs: Any) -> Any:
        with around():
            return original(*args, **kwargs)

    return called
