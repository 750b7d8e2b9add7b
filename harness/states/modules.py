"""The modules to scan, and every function compiled in them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import CodeType, ModuleType


def modules_of(names: Sequence[str]) -> list[ModuleType]:
    """The loaded modules that are, or lie below, one of ``names``; by name."""
    found = {}
    for name, module in list(sys.modules.items()):
        if module is not None and any(name == want or name.startswith(want + ".") for want in names):
            found[name] = module
    return [found[name] for name in sorted(found)]


def module_code(module: ModuleType) -> CodeType | None:
    """The module's code as compiled: it holds every function in the file, however decorated."""
    known = vars(module).get("__harness_code__")  # a module may have a ``__getattr__`` that makes up anything
    if known is not None:
        return known
    spec = vars(module).get("__spec__")
    loader = getattr(spec, "loader", None)
    if spec is None or loader is None or not hasattr(loader, "get_code"):
        return None
    try:
        return loader.get_code(spec.name)
    except (ImportError, OSError, SyntaxError):
        return None


def functions(code: CodeType, prefix: str = "") -> Iterator[tuple[CodeType, str, bool]]:
    """(code, qualified name, is a function) of everything nested in ``code``."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            name = f"{prefix}{const.co_name}"
            is_function = bool(const.co_flags & 0x02)  # CO_NEWLOCALS: not a class body
            yield const, name, is_function
            yield from functions(const, f"{name}.<locals>." if is_function else f"{name}.")


def file_module(module: ModuleType, code: CodeType) -> None:
    """Remember the code a scenario file was executed from, so that it can be scanned like any module."""
    module.__harness_code__ = code  # type: ignore[attr-defined]
