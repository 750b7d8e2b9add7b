"""What the object that all bodies are given reaches: points in library code are where that is used.

In the modules scanned besides the scenario's own, attributes are followed by name where set-up's result reaches an
object that has them, and functions are given a point at every place once they are called with a container that it
reaches (or an iterator over one). Found out in the run, when there is such a result; off with torch unless asked for.
"""

from __future__ import annotations

import gc
from collections import deque
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

_MOST = 5000
_NEITHER = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, str, bytes, int, float, type(None))
_CONTAINERS = (dict, list, set, deque, bytearray)


class Reach:
    """attributes  states ``module.Class:name`` of objects of Python classes
    containers  identities; the objects are kept
    """

    def __init__(self, shared: Any) -> None:
        self.attributes: set[str] = set()
        self.containers: set[int] = set()
        self._kept: list[Any] = []
        seen: set[int] = set()
        waiting = [shared]
        while waiting and len(seen) < _MOST:
            value = waiting.pop()
            if isinstance(value, _NEITHER) or id(value) in seen:
                continue
            seen.add(id(value))
            self._kept.append(value)
            if isinstance(value, dict):
                waiting += value.values()
            elif isinstance(value, (list, tuple, set, frozenset, deque)):
                waiting += value
            if isinstance(value, _CONTAINERS):
                self.containers.add(id(value))
            elif not type(value).__module__.startswith("harness."):
                waiting += self._attributes(value)

    def _attributes(self, value: Any) -> list[Any]:
        own = getattr(value, "__dict__", None)
        if not isinstance(own, dict):
            return []
        kind = type(value)
        self.attributes.update(f"{kind.__module__}.{kind.__qualname__}:{name}" for name in own)
        return list(own.values())

    def held_by(self, frame: FrameType, code: CodeType) -> bool:
        """Was the function that starts in ``frame`` given one of the containers?"""
        count = code.co_argcount + code.co_kwonlyargcount
        given = frame.f_locals
        for name in code.co_varnames[:count]:
            value = given.get(name)
            if id(value) in self.containers:
                return True
            kind = type(value)
            if kind.__module__ == "builtins" and kind.__name__.endswith(("iterator", "_keys", "_values", "_items")):
                return any(id(of) in self.containers for of in gc.get_referents(value))
        return False
