"""What is known before a run of a value that an instruction uses: where it came from."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, NamedTuple

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()


class Value(NamedTuple):
    """kind    where it came from: ``name`` (a global, or an attribute of a module or class), ``local``, ``attr`` (of an
            object), ``item`` (of a container), ``call`` (what a call returned), ``iter`` (over a container), ``items``
            (a list or tuple just made), ``const``, or nothing: unknown
    name    of the local, attribute or state
    base    the object, container or function that it came from; of ``items`` their values
    object  the value itself as it is at the time of the scan, where that can be known
    state   ``owner.name``, where it was read from an attribute of a module or class
    slot    the local that held it in between
    offset  of the instruction that read it
    """

    kind: str = ""
    name: str = ""
    base: Any = None
    object: Any = MISSING
    state: str = ""
    slot: str = ""
    offset: int = -1


UNKNOWN = Value()
NULL = Value("null")


def owner_of(value: Any) -> str | None:
    """Name of the module or class ``value``, None for anything else."""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    return None


def attribute_of(value: Any, name: str) -> Any:
    """Of a module or class, without running anyone's ``__getattr__``."""
    if isinstance(value, ModuleType):
        found = vars(value).get(name, MISSING)
        return sys.modules.get(f"{value.__name__}.{name}", MISSING) if found is MISSING else found
    if isinstance(value, type):
        for base in value.__mro__:
            if name in vars(base):
                return vars(base)[name]
    return MISSING


def class_of(module: ModuleType, qualname: str) -> Any:
    """The class whose method ``qualname`` is."""
    value: Any = module
    for part in qualname.split(".")[:-1]:
        value = attribute_of(value, part)
    return value if isinstance(value, type) else MISSING
