"""Containers held in process-wide names and changed in place: by subscript, or by a method that changes them.

An access is where the content is used (subscript, method call, ``in``, each step of a loop), not where the name is
read: that read is a point of its own only where the container goes somewhere we don't follow. So the change outranks
the read of the name in the same statement.
"""

from __future__ import annotations

import dis
import weakref
from collections import deque
from collections.abc import Iterator, Set
from types import BuiltinFunctionType, CodeType
from typing import Any

from ..codes import Access
from ..flow import Event
from ..value import MISSING, Value, attribute_of, class_of, owner_of
from .kind import Found, last_words

TYPES: tuple[Any, ...] = (
    dict, list, set, deque, bytearray, weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet,
)  # fmt: skip

CHANGES = frozenset({
    "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft", "insert",
    "intersection_update", "move_to_end", "pop", "popitem", "popleft", "remove", "reverse", "rotate", "setdefault", "sort",
    "symmetric_difference_update", "update", "__setitem__", "__delitem__",
})  # fmt: skip

_IN_PLACE = ("+=", "|=", "&=", "^=", "-=", "INPLACE_ADD", "INPLACE_OR", "INPLACE_AND", "INPLACE_XOR", "INPLACE_SUBTRACT")
_VIEWS = ("items", "keys", "values", "copy")
_STORES = frozenset(dis.opmap[name] for name in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE") if name in dis.opmap)


def uses(event: Event) -> Iterator[tuple[Value, bool]]:
    """(container, is it changed) of every container whose content this instruction uses."""
    if event.what in ("item", "contains", "iterate", "next"):
        yield _seen_through(event.base), False
    elif event.what == "set item":
        yield event.base, True
    elif event.what == "operator" and event.base.slot and event.name in _IN_PLACE:
        yield event.base, True  # of a local; what a name or attribute holds is stored back, which is a write anyway
    elif event.what == "call":
        called = event.base
        if isinstance(called.base, Value) and called.name:
            yield called.base, called.name in CHANGES
        if isinstance(called.object, (BuiltinFunctionType, type)):  # len, sorted, list: read to the end before we go on
            for value in event.args:
                yield _seen_through(value), False


def _seen_through(value: Value) -> Value:
    """``cache`` for ``cache.items()``: a view of it."""
    if value.kind == "call" and value.name in _VIEWS and isinstance(value.base, Value) and value.base.base is not None:
        return value.base.base
    return value


class Containers:
    name = "containers"
    within = True

    def may_make(self, code: CodeType, fine: bool) -> bool:
        return not _STORES.isdisjoint(code.co_code[::2]) or not CHANGES.isdisjoint(code.co_names)

    def makes(self, found: Found) -> Iterator[str]:
        for event in found.events:
            for value, changed in uses(event):
                state = _state(value, found) if changed else None
                if state is not None:
                    yield state

    def words(self, states: Set[str]) -> set[str]:
        return last_words(states)

    def sites(self, found: Found, states: Set[str]) -> Iterator[tuple[int, Access]]:
        followed = set()
        for event in found.events:
            for value, changed in uses(event):
                state = _state(value, found)
                if state in states and state is not None:
                    followed.add(value.offset)
                    yield event.offset, Access(state, changed)
        for event in found.events:
            if event.what == "read" and event.offset not in followed:
                state = f"{event.owner}.{event.name}"
                if state in states:
                    yield event.offset, Access(state, False)


def _state(value: Value, found: Found) -> str | None:
    """The process-wide name of a container, None where it has none."""
    if value.state:
        return value.state if isinstance(value.object, TYPES) else None
    if value.kind == "attr" and isinstance(value.base, Value) and value.base.name == "self":
        return _of_class(class_of(found.module, found.qualname), value.name)
    return None


def _of_class(cls: Any, name: str) -> str | None:
    """``self.table`` where the class has it and its instances don't."""
    if cls is MISSING or not isinstance(attribute_of(cls, name), TYPES):
        return None
    init = getattr(attribute_of(cls, "__init__"), "__code__", None)
    if init is not None and name in init.co_names:
        return None
    for base in cls.__mro__:
        if name in vars(base):
            return f"{owner_of(base)}.{name}"
    return None
