"""What calling an object starts with. Told from types alone: an attribute lookup could run someone's code."""

from __future__ import annotations

import inspect
from enum import Enum
from types import FunctionType, MethodType
from typing import Any


class Starts(Enum):
    C = 1  # the interpreter looks at its eval breaker when the call has returned
    PYTHON = 2  # a function starts before anything else, and it looks there
    NOTHING = 3  # a generator is made: it looks nowhere


_IN_C: tuple[Any, ...] = type(len), type(list.append), type(list.__add__), type([].__add__)
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_OBJECT_NEW = object.__dict__["__new__"]


def starts_with(called: Any) -> Starts:
    """PYTHON: a function, a method, an object whose class has ``__call__``, a class with ``__init__``."""
    kind = type(called)
    if kind is FunctionType:
        return Starts.NOTHING if called.__code__.co_flags & _SUSPENDED else Starts.PYTHON
    if kind in _IN_C:
        return Starts.C
    if kind is MethodType:
        return starts_with(called.__func__)
    if _runs(_attribute(kind, "__call__")):
        return Starts.PYTHON
    if not issubclass(kind, type):
        return Starts.C
    new = _attribute(called, "__new__")
    if isinstance(new, staticmethod):
        new = new.__func__
    if _runs(new) or (new is _OBJECT_NEW and _runs(_attribute(called, "__init__"))):
        return Starts.PYTHON
    return Starts.C


def _runs(function: Any) -> bool:
    return type(function) is FunctionType and not function.__code__.co_flags & _SUSPENDED


def _attribute(kind: type, name: str) -> Any:
    for base in type.__dict__["__mro__"].__get__(kind):
        found = base.__dict__.get(name)
        if found is not None:
            return found
    return None
