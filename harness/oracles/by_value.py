"""A value as text that is equal for equal values, in every process: never by address.

Functions by where their code is (``functools.wraps`` copies the name of what it wraps). Tensors by their numbers.
Objects of Python classes by their attributes; locks, threads and what else has no value of its own by their type.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

_MOST = 5000  # objects looked at; what is beyond is not compared
_DEEPEST = 12
_PLAIN = (bool, int, float, complex, str, bytes, bytearray, type(None), range, slice)
#: Packages whose objects are told by their type only: their insides depend on who came first, their use does not.
_OPAQUE = ("_thread", "threading", "concurrent", "asyncio", "multiprocessing", "contextvars", "harness", "torch", "functools")


def by_value(value: Any) -> str:
    return "".join(_Text().of(value, 0))


class _Text:
    def __init__(self) -> None:
        self.left = _MOST
        self.above: list[int] = []

    def of(self, value: Any, depth: int) -> Iterator[str]:
        self.left -= 1
        kind = type(value)
        if kind in _PLAIN:
            yield repr(value)
        elif isinstance(value, (FunctionType, MethodType, type, ModuleType)):
            yield _identity(value)
        elif id(value) in self.above:
            yield f"<{len(self.above) - self.above.index(id(value))} up>"
        elif depth >= _DEEPEST or self.left < 0:
            yield "..."
        else:
            self.above.append(id(value))
            yield from self._inside(value, kind, depth + 1)
            self.above.pop()

    def _inside(self, value: Any, kind: type, depth: int) -> Iterator[str]:
        name = "" if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        if isinstance(value, (list, tuple, deque)):
            yield f"{name}["
            for place, item in enumerate(list(value)):
                yield ", " if place else ""
                yield from self.of(item, depth)
            yield "]"
        elif isinstance(value, (set, frozenset)):
            yield f"{name}{{{', '.join(sorted(''.join(self.of(item, depth)) for item in list(value)))}}}"
        elif isinstance(value, dict):
            pairs = sorted(("".join(self.of(k, depth)), "".join(self.of(v, depth))) for k, v in list(value.items()))
            yield f"{name}{{{', '.join(f'{k}: {v}' for k, v in pairs)}}}"
        elif kind.__module__.partition(".")[0] in _OPAQUE:
            yield _numbers(value) or f"a {name}"
        else:
            yield from self._object(value, kind, name, depth)

    def _object(self, value: Any, kind: type, name: str, depth: int) -> Iterator[str]:
        own = dict(getattr(value, "__dict__", {}))
        for base in kind.__mro__:
            slots = vars(base).get("__slots__", ())
            for slot in [slots] if isinstance(slots, str) else slots:
                if hasattr(value, slot):
                    own[slot] = getattr(value, slot)
        if own or not _told_by_repr(kind):
            yield f"{name}("
            for place, attribute in enumerate(sorted(own)):
                yield f"{', ' if place else ''}{attribute}="
                yield from self.of(own[attribute], depth)
            yield ")"
        else:
            text = repr(value)
            yield text if " at 0x" not in text else f"a {name}"


def _told_by_repr(kind: type) -> bool:
    return kind.__repr__ is not object.__repr__ and not isinstance(kind.__repr__, FunctionType)


def _identity(value: Any) -> str:
    code = getattr(value, "__code__", None)
    if code is not None:
        return f"{code.co_filename}:{code.co_firstlineno} {code.co_name}"
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', None) or value.__name__}"


def _numbers(value: Any) -> str:
    """Of a plain tensor; empty for everything else."""
    if type(value).__name__ not in ("Tensor", "Parameter") or not hasattr(value, "untyped_storage"):
        return ""
    try:
        plain = value.detach().cpu().contiguous().flatten()
        digest = hashlib.sha256(str(plain.tolist()).encode()).hexdigest()[:16]
    except (RuntimeError, NotImplementedError):
        return ""
    return f"tensor({value.dtype}, {list(value.shape)}, {digest})"
