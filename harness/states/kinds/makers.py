"""Calls that only make a generator or coroutine: no function starts, and the interpreter checks nowhere."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import CodeType, FunctionType

from ..flow import Event
from ..value import MISSING, Value

SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def makers(events: Iterable[Event]) -> dict[int, Value]:
    """Offset -> what is called, for calls that make a generator or may do so."""
    found = {}
    for event in events:
        if event.what == "call" and event.base.kind:
            called = event.base.object
            code = called.__code__ if isinstance(called, FunctionType) else called
            if called is MISSING or (isinstance(code, CodeType) and code.co_flags & SUSPENDED):
                found[event.offset] = event.base
    return found
