"""Follows one code object's instructions just far enough to know which module or class an attribute belongs to.

``torch.fx._symbolic_trace._is_fx_tracing_flag = False`` is LOAD_GLOBAL, LOAD_ATTR, LOAD_ATTR, STORE_ATTR; only the
value pushed last matters, so no stack is kept; the one more that ``owner.name += 1`` duplicates is kept until it is
swapped back. Local aliases (``import a.b as m``, ``m = a.b``) are followed.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any, NamedTuple

_UNKNOWN = object()
_SKIP = {"CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "PUSH_NULL", "COPY_FREE_VARS", "MAKE_CELL"}
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}


class Touch(NamedTuple):
    """An access as written in the code: to attribute ``name`` of module or class ``owner``."""

    offset: int
    owner: str
    name: str
    write: bool
    saved_to: str  # local that a read is stored into at once
    stored_from: str  # local that a write stores


def _owner_name(value: Any) -> str | None:
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    return None


def _attribute(value: Any, name: str) -> Any:
    """Without running anyone's ``__getattr__``."""
    if isinstance(value, ModuleType):
        found = vars(value).get(name, _UNKNOWN)
        return sys.modules.get(f"{value.__name__}.{name}", _UNKNOWN) if found is _UNKNOWN else found
    if isinstance(value, type):
        for base in value.__mro__:
            if name in vars(base):
                return vars(base)[name]
    return _UNKNOWN


def _class_of(module: ModuleType, qualname: str) -> Any:
    value: Any = module
    for part in qualname.split(".")[:-1]:
        value = _attribute(value, part)
    return value if isinstance(value, type) else _UNKNOWN


def touches(code: CodeType, module: ModuleType, qualname: str) -> Iterator[Touch]:
    """Every read and write of an attribute of a module or class in ``code``, by instruction offset."""
    space = vars(module)
    local: dict[str, Any] = {}
    if code.co_argcount and code.co_varnames[:1] == ("cls",):
        local["cls"] = _class_of(module, qualname)
    top: Any = _UNKNOWN
    doubled: Any = _UNKNOWN
    last_local = ""
    imported: Any = _UNKNOWN
    waiting: Touch | None = None  # a read whose value may be saved by the next instruction
    instructions = [i for i in dis.get_instructions(code) if i.opname not in _SKIP]
    for instruction in instructions:
        op, name = instruction.opname, instruction.argval
        if isinstance(name, tuple) and op in _PAIRS:  # two instructions in one, from 3.13
            first, (before, name) = _PAIRS[op][0], name
            op = _PAIRS[op][1]
            if waiting is not None:
                yield waiting._replace(saved_to=before) if first == "STORE_FAST" else waiting
                waiting = None
            if first == "STORE_FAST":
                local[before], top = top, _UNKNOWN
        if waiting is not None:
            yield waiting._replace(saved_to=name) if op == "STORE_FAST" else waiting
            waiting = None
        if op in ("LOAD_GLOBAL", "LOAD_NAME"):
            waiting = Touch(instruction.offset, module.__name__, name, False, "", "")
            top, last_local = space.get(name, _UNKNOWN), ""
        elif op in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            yield Touch(instruction.offset, module.__name__, name, True, "", last_local)
            top, last_local = _UNKNOWN, ""
        elif op in ("LOAD_ATTR", "LOAD_METHOD"):
            owner = _owner_name(top)
            if owner is not None:
                waiting = Touch(instruction.offset, owner, name, False, "", "")
            top, last_local = _attribute(top, name), ""
        elif op in ("STORE_ATTR", "DELETE_ATTR"):
            owner = _owner_name(top)
            if owner is not None:
                yield Touch(instruction.offset, owner, name, True, "", _stored_local(instructions, instruction))
            top, last_local = _UNKNOWN, ""
        elif op == "IMPORT_NAME":
            imported = sys.modules.get(name, _UNKNOWN)
            top, last_local = imported, ""
        elif op == "IMPORT_FROM":
            top, last_local = _attribute(imported, name), ""
        elif op.startswith("LOAD_FAST") and isinstance(name, str):
            top, last_local = local.get(name, _UNKNOWN), name
        elif op == "STORE_FAST":
            local[name] = top
            top, last_local = _UNKNOWN, ""
        elif op == "DUP_TOP" or (op == "COPY" and name == 1):
            doubled, last_local = top, ""
        elif op == "ROT_TWO" or (op == "SWAP" and name == 2):
            top, doubled, last_local = doubled, _UNKNOWN, ""
        else:
            top, last_local = _UNKNOWN, ""
    if waiting is not None:
        yield waiting


def _stored_local(instructions: list[dis.Instruction], store: dis.Instruction) -> str:
    """The local whose value ``a.b.name = local`` stores: loaded just before the chain that ends in the store."""
    at = instructions.index(store) - 1
    while at > 0 and instructions[at].opname in ("LOAD_ATTR", "LOAD_METHOD"):
        at -= 1
    base = instructions[at]
    if base.opname == "LOAD_FAST_LOAD_FAST" and isinstance(base.argval, tuple):
        return str(base.argval[0])
    before = instructions[at - 1] if at > 0 else None
    if before is not None and before.opname in _PAIRS and isinstance(before.argval, tuple):
        return str(before.argval[1]) if _PAIRS[before.opname][1] == "LOAD_FAST" else ""
    if before is not None and before.opname.startswith("LOAD_FAST") and isinstance(before.argval, str):
        return before.argval
    return ""
