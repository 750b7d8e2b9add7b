"""Types whose operators give up the GIL inside C, with no call in the bytecode.

Each row was read in the type's source: the code between giving it up and taking it back is where another thread runs.
What is not in the table does not give it up, as far as we say.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from harness.states.value import MISSING, Value

from .look import look

if TYPE_CHECKING:
    from .managed import Managed

_READS = ("next", "contains")  # a step of a loop, or a search that makes such steps

#: (module, class, what is done with it)
TABLE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("torch", "Tensor", ("operator", "item", "set item")),  # python_variable_methods: gil_scoped_release
    ("_io", "TextIOWrapper", _READS),  # both read a file: FileIO.readinto
    ("_io", "BufferedReader", _READS),
    ("_io", "FileIO", _READS),
    ("sqlite3", "Cursor", _READS),  # sqlite3_step
    ("posix", "ScandirIterator", _READS),  # readdir
)


def released(me: Managed, what: tuple[str, tuple[Value, ...]], frame: FrameType) -> None:
    """Behind such an instruction. The operands are looked at only where something is pending; else it is only counted."""
    if not me.pending:
        me.places += 1
    elif gives_up(*what, frame):
        me.controller.place(me)


def gives_up(what: str, operands: tuple[Value, ...], frame: FrameType) -> bool:
    return any(_type_gives_up(what, type(look(value, frame))) for value in operands)


def _type_gives_up(what: str, kind: Any) -> bool:
    if kind is type(MISSING):
        return False
    for module, name, operations in TABLE:
        if what in operations and module in sys.modules:
            found = getattr(sys.modules[module], name, None)
            if any(base is found or (base.__module__, base.__name__) == (module, name) for base in kind.__mro__):
                return True
    return False
