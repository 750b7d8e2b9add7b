"""Follows one code object's instructions and tells, for each access in it, what is accessed.

One pass in the order of the code with a symbolic stack. Where two ways meet, what they disagree about is unknown;
below what has been seen everything is. Locals keep what was stored last. The same for Python 3.10 to 3.13.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from .value import MISSING, NULL, UNKNOWN, Value, attribute_of, class_of, owner_of


class Event(NamedTuple):
    """One access by the instruction at ``offset``.

    what  ``read``, ``write`` (attribute ``name`` of module or class ``owner``), ``get``, ``set`` (attribute ``name`` of
          the object ``base``), ``save`` (into local ``name``), ``item``, ``set item``, ``contains``, ``iterate``,
          ``next``, ``with`` (all of ``base``), ``call`` (of ``base``), ``operator`` (``name``), ``return``
    args  what is stored, the operands, or what a call is given
    """

    what: str
    offset: int
    base: Value
    name: str = ""
    args: tuple[Value, ...] = ()
    owner: str = ""


SKIP = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "COPY_FREE_VARS", "MAKE_CELL", "KW_NAMES", "SETUP_ANNOTATIONS"})
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD_NO_INTERRUPT")
_JUMPS = frozenset({*dis.hasjrel, *dis.hasjabs})
_POPS = ("POP_", "STORE_", "DELETE_", "LIST_", "SET_", "DICT_", "MAP_ADD", "END_", "YIELD_FROM", "PRINT_EXPR")  # leave what is below alone
_LOADS = ("LOAD_", "PUSH_", "COPY", "DUP_", "FOR_ITER")


class Flow:
    """The events of one code object, in order. ``run`` once."""

    def __init__(self, code: CodeType, module: ModuleType, qualname: str) -> None:
        self.code = code
        self.module = module
        self.space = vars(module)
        self.events: list[Event] = []
        self.stack: list[Value] = []
        self.local: dict[str, Value] = {}
        self._imported = UNKNOWN
        if code.co_argcount and code.co_varnames[:1] == ("cls",):
            self.local["cls"] = Value("local", "cls", object=class_of(module, qualname))

    def run(self) -> list[Event]:
        at_target: dict[int, list[Value]] = {}
        reachable = True
        for instruction in dis.get_instructions(self.code):
            op, offset = instruction.opname, instruction.offset
            if instruction.is_jump_target:
                self._join(at_target.pop(offset, None), reachable)
            elif not reachable:
                self.stack = at_target.pop(offset, [])
            reachable = op not in _ENDS
            if op in SKIP:
                continue
            if op in _PAIRS and isinstance(instruction.argval, tuple):  # two instructions in one, from 3.13
                for part, name in zip(_PAIRS[op], instruction.argval, strict=True):
                    _HANDLERS[part](self, instruction, name)
                continue
            jumped = None
            if instruction.opcode in _JUMPS:
                jumped = self.stack.copy()
                _net(jumped, op, dis.stack_effect(instruction.opcode, instruction.arg, jump=True))
                if isinstance(instruction.argval, int) and instruction.argval > offset:
                    at_target.setdefault(instruction.argval, jumped)
            handler = _HANDLERS.get(op)
            if handler is not None:
                handler(self, instruction, instruction.argval)
            else:
                self._other(instruction)
        return self.events

    def _join(self, other: list[Value] | None, reachable: bool) -> None:
        if not reachable:
            self.stack = other or []
        elif other is not None:
            depth = min(len(self.stack), len(other))
            pairs = zip(self.stack[len(self.stack) - depth :], other[len(other) - depth :], strict=True)
            self.stack = [a if a == b else UNKNOWN for a, b in pairs] if depth else []

    def _other(self, instruction: dis.Instruction) -> None:
        op = instruction.opname
        if op.startswith(("BINARY_", "INPLACE_", "COMPARE_OP", "IS_OP")):
            right, left = self.pop(), self.pop()
            self.event("operator", instruction, left, instruction.argrepr or op, (left, right))
            self.stack.append(Value("call"))
            return
        arg = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
        _net(self.stack, op, dis.stack_effect(instruction.opcode, arg, jump=False))

    # ---------------------------------------------------------------- for the handlers

    def pop(self) -> Value:
        return self.stack.pop() if self.stack else UNKNOWN

    def peek(self, depth: int) -> Value:
        """``depth`` 1 is the top."""
        return self.stack[-depth] if len(self.stack) >= depth else UNKNOWN

    def event(self, what: str, at: dis.Instruction, base: Value, name: str = "", args: tuple[Value, ...] = (), owner: str = "") -> None:
        self.events.append(Event(what, at.offset, base, name, args, owner))

    def attribute(self, at: dis.Instruction, base: Value, name: str) -> Value:
        owner = owner_of(base.object)
        if owner is None:
            self.event("get", at, base, name)
            return Value("attr", name, base, offset=at.offset)
        self.event("read", at, base, name, owner=owner)
        return Value("name", name, base, attribute_of(base.object, name), f"{owner}.{name}", offset=at.offset)


def _net(stack: list[Value], op: str, effect: int) -> None:
    """What an instruction of which no more is known does to the stack: its result is unknown, what is below stays."""
    pops = op.startswith(_POPS) or "JUMP_IF" in op
    for _ in range(-effect):
        if stack:
            stack.pop()
    if not pops and not op.startswith(_LOADS) and stack:
        stack[-1] = UNKNOWN
    stack.extend([UNKNOWN] * effect)


# -------------------------------------------------------------------- one function an instruction


def _global(flow: Flow, at: dis.Instruction, name: str) -> None:
    found = flow.space.get(name, MISSING)
    if found is MISSING:
        found = vars(builtins).get(name, MISSING)
    flow.event("read", at, UNKNOWN, name, owner=flow.module.__name__)
    value = Value("name", name, None, found, f"{flow.module.__name__}.{name}", offset=at.offset)
    null = [NULL] if at.opname == "LOAD_GLOBAL" and (at.arg or 0) & 1 and sys.version_info >= (3, 11) else []
    flow.stack += [value, *null] if sys.version_info >= (3, 13) else [*null, value]


def _store_global(flow: Flow, at: dis.Instruction, name: str) -> None:
    stored = flow.pop() if at.opname != "DELETE_GLOBAL" else UNKNOWN
    flow.event("write", at, UNKNOWN, name, (stored,), flow.module.__name__)


def _load_attr(flow: Flow, at: dis.Instruction, name: str) -> None:
    value = flow.attribute(at, flow.pop(), name)
    if at.opname == "LOAD_METHOD" or (at.opname == "LOAD_ATTR" and sys.version_info >= (3, 12) and (at.arg or 0) & 1):
        flow.stack.append(value)
    flow.stack.append(value)


def _store_attr(flow: Flow, at: dis.Instruction, name: str) -> None:
    base = flow.pop()
    stored = flow.pop() if at.opname != "DELETE_ATTR" else UNKNOWN
    owner = owner_of(base.object)
    if owner is None:
        flow.event("set", at, base, name, (stored,))
    else:
        flow.event("write", at, base, name, (stored,), owner)


def _load_local(flow: Flow, at: dis.Instruction, name: str) -> None:
    known = flow.local.get(name)
    flow.stack.append(Value("local", name) if known is None else known._replace(slot=name))


def _store_local(flow: Flow, at: dis.Instruction, name: str) -> None:
    value = flow.pop()
    flow.event("save", at, value, name)
    if value.kind:
        flow.local[name] = value
    else:
        flow.local.pop(name, None)


def _import_name(flow: Flow, at: dis.Instruction, name: str) -> None:
    flow.pop()
    flow.pop()
    flow._imported = Value("name", name, None, sys.modules.get(name, MISSING))
    flow.stack.append(flow._imported)


def _import_from(flow: Flow, at: dis.Instruction, name: str) -> None:
    flow.stack.append(Value("name", name, None, attribute_of(flow._imported.object, name)))


def _call(flow: Flow, at: dis.Instruction, _: Any) -> None:
    op, count = at.opname, at.arg or 0
    if op in ("CALL_KW", "CALL_FUNCTION_KW"):
        flow.pop()  # the names
    args = tuple(flow.peek(count - i) for i in range(count))
    if op.startswith("CALL_FUNCTION") and op != "CALL_FUNCTION_EX":
        taken, called = count + 1, flow.peek(count + 1)
    else:
        taken, called = count + 2, flow.peek(count + 2)
        if called is NULL or not called.kind:
            called = flow.peek(count + 1)
    called = UNKNOWN if called is NULL else called
    del flow.stack[max(0, len(flow.stack) - taken) :]
    flow.event("call", at, called, args=args)
    flow.stack.append(Value("call", called.name, called, offset=at.offset))


def _call_ex(flow: Flow, at: dis.Instruction, _: Any) -> None:
    _net(flow.stack, at.opname, dis.stack_effect(at.opcode, at.arg))
    flow.event("call", at, UNKNOWN)


def _item(flow: Flow, at: dis.Instruction, _: Any) -> None:
    key, base = flow.pop(), flow.pop()
    flow.event("item", at, base, args=(key,))
    flow.stack.append(Value("item", base=base, offset=at.offset))


def _store_item(flow: Flow, at: dis.Instruction, _: Any) -> None:
    _, base = flow.pop(), flow.pop()
    stored = flow.pop() if at.opname != "DELETE_SUBSCR" else UNKNOWN
    flow.event("set item", at, base, args=(stored,))


def _store_slice(flow: Flow, at: dis.Instruction, _: Any) -> None:
    _, _, base, stored = flow.pop(), flow.pop(), flow.pop(), flow.pop()
    flow.event("set item", at, base, args=(stored,))


def _slice(flow: Flow, at: dis.Instruction, _: Any) -> None:
    _, _, base = flow.pop(), flow.pop(), flow.pop()
    flow.event("item", at, base)
    flow.stack.append(UNKNOWN)


def _contains(flow: Flow, at: dis.Instruction, _: Any) -> None:
    base, sought = flow.pop(), flow.pop()
    flow.event("contains", at, base, args=(sought,))
    flow.stack.append(UNKNOWN)


def _iterate(flow: Flow, at: dis.Instruction, _: Any) -> None:
    base = flow.pop()
    flow.event("iterate", at, base)
    flow.stack.append(Value("iter", base=base))


def _next(flow: Flow, at: dis.Instruction, _: Any) -> None:
    top = flow.peek(1)
    flow.event("next", at, top.base if top.kind == "iter" else top)
    flow.stack.append(Value("item", base=top.base))


def _with(flow: Flow, at: dis.Instruction, _: Any) -> None:
    flow.event("with", at, flow.peek(1))
    _net(flow.stack, at.opname, dis.stack_effect(at.opcode, at.arg if at.opcode >= dis.HAVE_ARGUMENT else None, jump=False))


def _unary(flow: Flow, at: dis.Instruction, _: Any) -> None:
    value = flow.pop()
    flow.event("operator", at, value, at.opname, (value,))
    flow.stack.append(Value("call"))


def _return(flow: Flow, at: dis.Instruction, _: Any) -> None:
    flow.event("return", at, flow.pop())


def _return_const(flow: Flow, at: dis.Instruction, value: Any) -> None:
    flow.event("return", at, Value("const", object=value))


def _swap(flow: Flow, at: dis.Instruction, _: Any) -> None:
    depth = at.arg or 0
    while len(flow.stack) < depth:
        flow.stack.insert(0, UNKNOWN)
    flow.stack[-1], flow.stack[-depth] = flow.stack[-depth], flow.stack[-1]


def _rotate(flow: Flow, at: dis.Instruction, _: Any) -> None:
    depth = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}.get(at.opname, at.arg or 0)
    while len(flow.stack) < depth:
        flow.stack.insert(0, UNKNOWN)
    flow.stack.insert(-depth + 1 or len(flow.stack), flow.stack.pop())


def _copy(flow: Flow, at: dis.Instruction, _: Any) -> None:
    if at.opname == "DUP_TOP_TWO":
        flow.stack += [flow.peek(2), flow.peek(1)]
    else:
        flow.stack.append(flow.peek(1 if at.opname == "DUP_TOP" else at.arg or 1))


def _null(flow: Flow, at: dis.Instruction, _: Any) -> None:
    flow.stack.append(NULL)


def _const(flow: Flow, at: dis.Instruction, value: Any) -> None:
    flow.stack.append(Value("const", object=value))


def _build(flow: Flow, at: dis.Instruction, count: int) -> None:
    items = tuple(flow.pop() for _ in range(count))
    flow.stack.append(Value("items", base=items))


def _unpack(flow: Flow, at: dis.Instruction, count: int) -> None:
    whole = flow.pop()
    flow.stack += [Value("item", base=whole)] * count


def _function(flow: Flow, at: dis.Instruction, _: Any) -> None:
    """Of 3.10 the name is on top of the code; from 3.13 defaults and closure come later."""
    code = next((v for v in (flow.peek(1), flow.peek(2)) if isinstance(v.object, CodeType)), UNKNOWN)
    _net(flow.stack, at.opname, dis.stack_effect(at.opcode, at.arg if at.opcode >= dis.HAVE_ARGUMENT else None))
    flow.pop()
    flow.stack.append(Value("function", object=code.object))


def _function_attribute(flow: Flow, at: dis.Instruction, _: Any) -> None:
    function = flow.pop()
    flow.pop()
    flow.stack.append(function)


_HANDLERS: dict[str, Callable[[Flow, dis.Instruction, Any], None]] = {
    "LOAD_GLOBAL": _global, "LOAD_NAME": _global, "STORE_GLOBAL": _store_global, "DELETE_GLOBAL": _store_global,
    "LOAD_ATTR": _load_attr, "LOAD_METHOD": _load_attr, "STORE_ATTR": _store_attr, "DELETE_ATTR": _store_attr,
    "LOAD_FAST": _load_local, "LOAD_FAST_CHECK": _load_local, "LOAD_FAST_AND_CLEAR": _load_local, "LOAD_DEREF": _load_local,
    "STORE_FAST": _store_local, "STORE_DEREF": _store_local, "IMPORT_NAME": _import_name, "IMPORT_FROM": _import_from,
    "CALL": _call, "CALL_METHOD": _call, "CALL_FUNCTION": _call, "CALL_FUNCTION_KW": _call, "CALL_KW": _call,
    "CALL_FUNCTION_EX": _call_ex, "BINARY_SUBSCR": _item, "BINARY_SLICE": _slice, "STORE_SUBSCR": _store_item,
    "DELETE_SUBSCR": _store_item, "STORE_SLICE": _store_slice, "CONTAINS_OP": _contains, "GET_ITER": _iterate,
    "FOR_ITER": _next, "BEFORE_WITH": _with, "SETUP_WITH": _with, "RETURN_VALUE": _return, "RETURN_CONST": _return_const, "SWAP": _swap, "COPY": _copy,
    "DUP_TOP": _copy, "DUP_TOP_TWO": _copy, "ROT_TWO": _rotate, "ROT_THREE": _rotate, "ROT_FOUR": _rotate,
    "ROT_N": _rotate, "PUSH_NULL": _null, "LOAD_CONST": _const, "UNARY_NEGATIVE": _unary, "UNARY_INVERT": _unary,
    "BUILD_LIST": _build, "BUILD_TUPLE": _build, "UNPACK_SEQUENCE": _unpack, "MAKE_FUNCTION": _function, "SET_FUNCTION_ATTRIBUTE": _function_attribute, "UNARY_NOT": _unary, "UNARY_POSITIVE": _unary,
}  # fmt: skip
