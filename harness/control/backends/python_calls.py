"""Does calling this object start a Python function before anything else?"""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

_IN_C = type(len), type([].append), type(list.append), type(list.__add__), type([].__add__)


def runs_python(called: Any) -> bool:
    """A function, a method, an object whose class defines ``__call__``, a class that starts with ``__init__``.

    Told from the types alone: no attribute lookup may run someone's code here.
    """
    kind = type(called)
    if kind is FunctionType:
        return True
    if kind in _IN_C:
        return False
    if kind is MethodType:
        return runs_python(called.__func__)
    if type(_of(kind, "__call__")) is FunctionType:
        return True
    if not issubclass(kind, type):
        return False
    new = _of(called, "__new__")
    if isinstance(new, staticmethod):
        new = new.__func__
    if type(new) is FunctionType:
        return True
    return new is _OBJECT_NEW and type(_of(called, "__init__")) is FunctionType


def _of(kind: type, name: str) -> Any:
    for base in type.__dict__["__mro__"].__get__(kind):
        found = base.__dict__.get(name)
        if found is not None:
            return found
    return None


_OBJECT_NEW = object.__dict__["__new__"]
