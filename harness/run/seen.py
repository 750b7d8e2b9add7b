"""What an attribute of an object holds, for people; without running any code of the program's."""

from __future__ import annotations

import ctypes
from types import MemberDescriptorType
from typing import Any

from harness.control.look import attribute
from harness.states.value import MISSING, attribute_of, owner_of
from harness.states.values import shown

NOT_KNOWN = "not known"
_C_DATA = (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array)


def seen(holder: Any, name: str) -> str:
    """``unset`` only where it has no such attribute; ``not known`` where code of the program's would have to be asked."""
    value = attribute(holder, name)
    if value is MISSING:
        value = _of_c_data(holder, name)
    if value is not MISSING:
        return shown(value)
    return NOT_KNOWN if _computed(holder, name) else "unset"


def _of_c_data(holder: Any, name: str) -> Any:
    """Of ``multiprocessing.Value`` and the like, without their lock."""
    if type(holder).__module__ == "multiprocessing.sharedctypes":
        holder = vars(holder).get("_obj")
    return getattr(holder, name, MISSING) if isinstance(holder, _C_DATA) else MISSING


def _computed(holder: Any, name: str) -> bool:
    if owner_of(holder) is not None:
        return False
    found = attribute_of(type(holder), name)
    if isinstance(found, MemberDescriptorType):
        return False
    return found is not MISSING or attribute_of(type(holder), "__getattr__") is not MISSING
