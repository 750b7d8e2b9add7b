"""Something else in a name's, or a function's, place, for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

_MISSING: Any = object()


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """``owner.name`` is ``value``. Afterwards what it was; where the owner had none of its own, it has none again."""
    original = vars(owner).get(name, _MISSING)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if original is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, original)


@contextmanager
def exchanged(function: Any, code: CodeType) -> Iterator[None]:
    """The very function object runs ``code``: whoever holds it already does too."""
    original = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = original
