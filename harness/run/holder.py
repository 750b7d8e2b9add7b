"""Which object an instruction's attribute is of, found without running any code of the program's.

The instructions before the access say where the object came from: a local, a global, or an attribute of one of these.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from harness.control.borrow import locals_of
from harness.control.look import attribute
from harness.states.value import MISSING

if TYPE_CHECKING:
    from harness.control.managed import Managed

_ACCESS = frozenset({"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"})
_NOTHING = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "RESUME", "COPY", "DUP_TOP"})  # leave the same object on top


def holder(frame: FrameType, name: str, me: Managed) -> Any:
    """The object whose attribute ``name`` was accessed just before; MISSING where it cannot be told."""
    path = _path(frame.f_code, frame.f_lasti, name)
    if path is None:
        return MISSING
    kind, base, names = path
    found = frame.f_globals.get(base, MISSING) if kind == "global" else locals_of(frame, me).get(base, MISSING)
    for attr in names:
        if found is MISSING:
            break
        found = attribute(found, attr)
    return found


@lru_cache(maxsize=1024)
def _path(code: CodeType, lasti: int, name: str) -> tuple[str, str, tuple[str, ...]] | None:
    """(local or global, its name, attributes from there to the object)."""
    every = [item for item in dis.get_instructions(code) if item.opname not in ("CACHE", "EXTENDED_ARG")]
    at = next((index for index, item in enumerate(every) if item.offset >= lasti), len(every))
    for index in (at - 1, at):
        if 0 <= index < len(every) and every[index].opname in _ACCESS and every[index].argval == name:
            return _owner(every, index, name)
    return None


def _owner(every: list[dis.Instruction], index: int, name: str) -> tuple[str, str, tuple[str, ...]] | None:
    if every[index].opname == "STORE_ATTR" and every[index - 1].opname in ("SWAP", "ROT_TWO"):
        # b.x += 1: the object is the one that the read before it left below
        reads = range(index - 1, -1, -1)
        index = next((i for i in reads if every[i].opname in _ACCESS and every[i].argval == name), -1)
        if index < 1 or every[index - 1].opname not in ("COPY", "DUP_TOP"):
            return None
    names: list[str] = []
    for item in reversed(every[:index]):
        if item.opname in _NOTHING:
            continue
        if item.opname == "LOAD_ATTR":
            names.insert(0, str(item.argval))
            continue
        if item.opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
            base = item.argval[-1] if isinstance(item.argval, tuple) else item.argval
            return "local", str(base), tuple(names)
        if item.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            return "global", str(item.argval), tuple(names)
        return None
    return None
