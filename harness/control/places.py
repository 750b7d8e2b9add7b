"""Where this interpreter can give up the GIL, instruction by instruction.

CPython looks at its eval breaker at function starts (RESUME), after calls into C, and at backward jumps;
a call of a Python function checks at that function's start and *not* when it returns. Anything else
switches only where C code releases the GIL or enters Python, which shows as a call of its own.

Observed on 3.11.7, 3.12.1 and 3.13.0: a signal was raised by an attribute getter in C, which checks nothing
itself, and its handler noted at which instruction it ran. The two lines on specialising and on what follows
``await`` are from the interpreter's design: the observation covers ``yield from``, and warm code on 3.11 only
in part.

* RESUME checks at a start and behind a ``yield``, not behind ``yield from`` or ``await``, and not when an
  exception is thrown into a generator. JUMP_BACKWARD_NO_INTERRUPT does not check.
* ``len``, ``isinstance``, ``type`` and ``list.append`` check after the call until the instruction is
  specialised, which takes a few executions; code that runs for the first time, as in a fresh process,
  checks.
* A call that only makes a generator or coroutine checks nowhere.
* ``super().name`` is a call of ``super`` up to 3.11 and one instruction without a check from 3.12.
* From 3.12 comprehensions are part of the function they are written in.
"""

from __future__ import annotations

import dis
import sys
from enum import Enum
from types import CodeType
from typing import NamedTuple

from harness.states import CodeSites
from harness.states.value import Value


class Kind(Enum):
    ACCESS = 1  # the instruction touches states
    CALL = 2  # a place behind it, if it called into C
    JUMP = 3  # a place behind it, if it jumped backwards
    STEP = 4  # free mode: touches memory that another thread may see
    NOTHING = 5  # only passed


class Act(NamedTuple):
    """What to do at one instruction.

    points    passed when it has been executed: its accesses; of a call, a jump or a step, the place's own
    follows   where execution goes on if the instruction succeeds
    accesses  of a call: what it touches, passed before its place
    before    passed before it is executed
    releases  operands that make C code in it give up the GIL: then there is a place behind it
    maker     of a call: what is called, where that may only make a generator
    """

    kind: Kind
    points: tuple[str, ...]
    line: int
    offset: int
    follows: tuple[int, ...]
    accesses: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    releases: tuple[str, tuple[Value, ...]] | None = None
    maker: Value | None = None


CALLS = {"CALL", "CALL_FUNCTION_EX", "CALL_KW", "CALL_FUNCTION", "CALL_METHOD", "CALL_FUNCTION_KW"}
_MEMORY = (
    "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR",
    "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_DEREF", "STORE_DEREF", "CONTAINS_OP", "FOR_ITER", "STORE_SLICE",
    "BINARY_SLICE", "UNPACK_SEQUENCE", "COMPARE_OP",
)  # fmt: skip


def _backward(instruction: dis.Instruction) -> bool:
    name = instruction.opname
    if "JUMP" not in name or name.endswith("NO_INTERRUPT"):
        return False
    return isinstance(instruction.argval, int) and instruction.argval <= instruction.offset


def acts(code: CodeType, sites: CodeSites, *, free: bool) -> dict[int, Act]:
    """Offset -> what to do when the instruction there has been executed."""
    found: dict[int, Act] = {}
    line = code.co_firstlineno
    instructions = list(dis.get_instructions(code))
    for index, instruction in enumerate(instructions):
        starts = getattr(instruction, "line_number", None) or instruction.starts_line
        if isinstance(starts, int) and not isinstance(starts, bool):
            line = starts
        offset, op = instruction.offset, instruction.opname
        where = f"{sites.name}+{line - code.co_firstlineno}"
        here = (f"line:{where}",) if sites.fine else ()
        accesses = tuple(access.point for access in sites.sites.get(offset, ()))
        act = None
        if op in CALLS:
            follows = _follows(instructions, index) if accesses else ()
            act = Act(Kind.CALL, here, line, offset, follows, accesses, maker=sites.makers.get(offset))
        elif accesses:
            act = Act(Kind.ACCESS, accesses, line, offset, _follows(instructions, index))
        elif _backward(instruction):
            act = Act(Kind.JUMP, here, line, offset, ())
        elif free and sites.fine and op.startswith(_MEMORY):
            act = Act(Kind.STEP, here, line, offset, _follows(instructions, index))
        if offset in sites.before or offset in sites.releases:
            kind = sites.before.get(offset)
            before = () if kind is None else (f"return:{sites.name}" if kind == "return" else f"op:{where}",)
            act = act or Act(Kind.NOTHING, (), line, offset, _follows(instructions, index))
            act = act._replace(before=before, releases=sites.releases.get(offset))
        if act is not None:
            found[offset] = act
    return found


def _follows(instructions: list[dis.Instruction], index: int) -> tuple[int, ...]:
    """Where execution may go on after this instruction; a loop that ends skips what clears the stack."""
    found = [instruction.offset for instruction in instructions[index + 1 : index + 2]]
    if instructions[index].opname == "FOR_ITER":
        after = [i.offset for i in instructions if i.offset >= instructions[index].argval]
        found += after[:3]
    return tuple(found)


NEEDS_SETTRACE = sys.version_info < (3, 12)
