"""What a value that an instruction uses is in this run, without running any code of the program's."""

from __future__ import annotations

from types import CodeType, FrameType, MemberDescriptorType, MethodType
from typing import TYPE_CHECKING, Any

from harness.states.kinds.makers import SUSPENDED
from harness.states.value import MISSING, Value, attribute_of, owner_of

from .borrow import locals_of

if TYPE_CHECKING:
    from .managed import Managed


def look(value: Value, frame: FrameType, me: Managed) -> Any:
    """MISSING where it cannot be told."""
    local = value.slot or (value.name if value.kind == "local" else "")
    if local:
        return locals_of(frame, me).get(local, MISSING)
    if value.kind == "name" and value.base is None:
        return frame.f_globals.get(value.name, value.object)
    if value.kind in ("name", "attr") and isinstance(value.base, Value):
        return attribute(look(value.base, frame, me), value.name)
    return value.object


def attribute(owner: Any, name: str) -> Any:
    """As ``owner.name`` finds it where no code of the program's has to run; else MISSING."""
    if owner is MISSING:
        return MISSING
    if owner_of(owner) is not None:
        return attribute_of(owner, name)
    try:
        own = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        own = {}
    if name in own:
        return own[name]
    found = attribute_of(type(owner), name)
    if isinstance(found, MemberDescriptorType):
        try:
            return found.__get__(owner)
        except AttributeError:
            return MISSING
    return MISSING if hasattr(type(found), "__set__") else found


def makes_generator(called: Value, frame: FrameType, me: Managed) -> bool:
    """Does calling it only make a generator or coroutine?"""
    function = look(called, frame, me)
    while isinstance(function, (MethodType, staticmethod, classmethod)):
        function = function.__func__
    code = function if isinstance(function, CodeType) else getattr(function, "__code__", None)
    return isinstance(code, CodeType) and bool(code.co_flags & SUSPENDED)
