"""Makes chosen globals of a module each thread's own.

A function reads its module's globals straight from their dictionary, where nothing can be put in between. So the code of
the functions that use the names is compiled again from their source, with the names turned into attributes of a
thread-local object, and exchanged in place: whoever holds such a function already, a ``torch.compile`` wrapper say, has
the new code too. Other files reach the names as attributes of the module; properties answer those.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ._replaced import exchanged

_HOLDER = "__each_thread_s_own__"


@contextmanager
def own_globals(module: ModuleType, names: Sequence[str]) -> Iterator[None]:
    """Those of ``names`` that the module has, and that are not each thread's own there already. A new thread starts with the
    values of now (dictionaries: a copy)."""
    present = [name for name in names if name in vars(module) and not isinstance(vars(module)[name], ContextVar)]
    with ExitStack() as stack:
        if present:
            vars(module)[_HOLDER] = _holder({name: vars(module)[name] for name in present})
            stack.callback(vars(module).pop, _HOLDER)
            for function in _users(module, set(present)):
                stack.enter_context(exchanged(function, _rewritten(function, set(present))))
            stack.enter_context(_as_attributes(module, present))
        yield


def _holder(values: dict[str, Any]) -> Any:
    start = {name: _copied(value) for name, value in values.items()}

    class Own(threading.local):
        def __init__(self) -> None:
            for name, value in start.items():
                setattr(self, name, _copied(value))

    holder = Own()
    vars(holder).update(values)  # this thread goes on with the very objects
    return holder


def _copied(value: Any) -> Any:
    return copy.copy(value) if isinstance(value, dict) else value


@contextmanager
def _as_attributes(module: ModuleType, names: Sequence[str]) -> Iterator[None]:
    """``module.name`` from outside."""

    def of(name: str) -> property:
        return property(
            lambda self: getattr(vars(self)[_HOLDER], name),
            lambda self, value: setattr(vars(self)[_HOLDER], name, value),
        )

    kind = type(module)
    module.__class__ = type(kind.__name__, (kind,), {name: of(name) for name in names})
    try:
        yield
    finally:
        module.__class__ = kind


def _users(module: ModuleType, names: set[str]) -> Iterator[FunctionType]:
    """The module's functions and methods that use one of the names, decorated or not."""
    seen: set[int] = set()
    waiting = list(vars(module).values())
    while waiting:
        thing = waiting.pop()
        thing = getattr(thing, "__func__", thing)
        if id(thing) in seen or getattr(thing, "__module__", None) != module.__name__:
            continue
        seen.add(id(thing))
        if isinstance(thing, type):
            waiting += [m for value in vars(thing).values() for m in (value, getattr(value, "fget", None))]
        elif isinstance(thing, FunctionType):
            waiting.append(getattr(thing, "__wrapped__", None))
            if thing.__globals__ is vars(module) and _uses(thing.__code__, names):
                yield thing


def _uses(code: CodeType, names: set[str]) -> bool:
    nested = (const for const in code.co_consts if isinstance(const, CodeType))
    return not names.isdisjoint(code.co_names) or any(_uses(inner, names) for inner in nested)


def _rewritten(function: FunctionType, names: set[str]) -> CodeType:
    lines, first = inspect.getsourcelines(function)
    source = textwrap.dedent("".join(lines))
    outer = function.__qualname__.split(".")[:-1]
    if outer:  # names with two underscores are the class's own
        source = f"class {outer[-1]}:\n" + textwrap.indent(source, " ")
    tree = _Names(names).visit(ast.parse(source))
    ast.increment_lineno(tree, first - 1 - bool(outer))
    code = compile(ast.fix_missing_locations(tree), function.__code__.co_filename, "exec", dont_inherit=True)
    return _named(code, function.__name__)


def _named(code: CodeType, name: str) -> CodeType:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if const.co_name == name:
                return const
            if not const.co_flags & 0x02:  # not CO_NEWLOCALS: the class around it
                return _named(const, name)
    raise LookupError(name)


class _Names(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.names:
            return node
        holder = ast.Name(_HOLDER, ast.Load())
        return ast.copy_location(ast.Attribute(ast.copy_location(holder, node), node.id, node.ctx), node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        left = [name for name in node.names if name not in self.names]
        return ast.copy_location(ast.Global(left), node) if left else ast.copy_location(ast.Pass(), node)
