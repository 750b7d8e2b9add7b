"""A thread that C code started, autograd's say, under control while it runs Python.

Nothing tells us of its birth. The thread that waits for it, in C, has the baton; the new one takes it over and, when it is
done, gives it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import active, raw


@contextmanager
def adopted() -> Iterator[None]:
    """Around the Python code that such a thread runs. Nothing in a thread that is under control already, or in no run."""
    control = active.controller
    if control is None or active.managed() is not None or control.current is None:
        yield
        return
    me = control.take_over(raw.get_ident(), raw.get_native_id())
    if control.backend is not None:
        control.backend.enter(control, me)
    try:
        yield
    finally:
        if control.backend is not None:
            control.backend.leave(me)
        control.hand_back(me)
