"""The static scan: which process-wide names do functions write, and who reads them.

A *state* is a module global, or an attribute of a module or class, that some function (not a module or class body,
which runs once) writes. Everything that reads or writes one, through whichever namespace, gets a site.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from types import CodeType, ModuleType

from .codes import Access, CodeSites, Table, key_of
from .declared import DECLARED
from .resolve import Touch, touches

_WRITES = bytes(dis.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"))


def modules_of(names: Sequence[str]) -> list[ModuleType]:
    """The loaded modules that are, or lie below, one of ``names``; by name."""
    found = {}
    for name, module in list(sys.modules.items()):
        if module is not None and any(name == want or name.startswith(want + ".") for want in names):
            found[name] = module
    return [found[name] for name in sorted(found)]


def _module_code(module: ModuleType) -> CodeType | None:
    """The module's code as compiled: it holds every function in the file, however decorated."""
    known = getattr(module, "__harness_code__", None)
    if known is not None:
        return known
    spec = getattr(module, "__spec__", None)
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


def scan(names: Sequence[str], fine: Sequence[ModuleType] = ()) -> Table:
    """Scan the loaded modules below ``names`` and those of ``fine``, whose functions get all their places as points."""
    table = Table()
    modules = modules_of(names)
    fine_names = {module.__name__ for module in fine}
    modules += [module for module in fine if module.__name__ not in {m.__name__ for m in modules}]
    table.modules = len(modules)

    code_list: list[tuple[ModuleType, CodeType, str]] = []
    for module in modules:
        top = _module_code(module)
        if top is not None:
            code_list += [(module, code, name) for code, name, is_function in functions(top) if is_function]

    owners = {module.__name__ for module in modules}
    known: dict[int, list[Touch]] = {}
    states: set[str] = set()
    for index, (module, code, name) in enumerate(code_list):
        if any(op in _WRITES for op in code.co_code[::2]):
            known[index] = list(touches(code, module, name))
            for touch in known[index]:
                if touch.write:
                    states.add(f"{touch.owner}.{touch.name}")
    states = {state for state in states if _within(state, owners)}
    last_names = {state.rpartition(".")[2] for state in states}

    saves: dict[str, set[str]] = {}
    for index, (module, code, name) in enumerate(code_list):
        is_fine = module.__name__ in fine_names
        sites: dict[int, list[Access]] = {}
        if index in known or not last_names.isdisjoint(code.co_names):
            found = known.get(index) or list(touches(code, module, name))
            sites = sites_among(found, states)
            for state in _saved_and_restored(found):
                if state in states:
                    saves.setdefault(state, set()).add(name)
        if sites or is_fine:
            table.codes[key_of(code)] = CodeSites(module.__name__, name, code, sites, fine=is_fine)
    table.save_restore = sorted(saves)
    _add_declared(table, states, code_list)
    table.states = sorted(states)
    return table


def sites_among(found: Iterable[Touch], states: Container[str]) -> dict[int, list[Access]]:
    """Instruction offset -> accesses, for the touches that are of ``states``."""
    sites: dict[int, list[Access]] = {}
    for touch in found:
        state = f"{touch.owner}.{touch.name}"
        if state in states:
            sites.setdefault(touch.offset, []).append(Access(state, touch.write))
    return sites


def _within(state: str, owners: set[str]) -> bool:
    """Only names of the scanned modules: a module outside them was not searched for readers."""
    while "." in state:
        state = state.rpartition(".")[0]
        if state in owners:
            return True
    return False


def _saved_and_restored(found: list[Touch]) -> Iterator[str]:
    """States read into a local that is later stored back by the same function."""
    saved: dict[str, set[str]] = {}
    for touch in found:
        state = f"{touch.owner}.{touch.name}"
        if touch.saved_to:
            saved.setdefault(state, set()).add(touch.saved_to)
        elif touch.write and touch.stored_from in saved.get(state, ()):
            yield state


def _add_declared(table: Table, states: set[str], code_list: list[tuple[ModuleType, CodeType, str]]) -> None:
    by_name = {f"{module.__name__}:{name}": (module, code, name) for module, code, name in code_list}
    for row in DECLARED:
        present = [by_name[f] for f in row.writers if f in by_name]
        if not present:
            continue
        states.add(row.state)
        if row.save_restore:
            table.save_restore = sorted({*table.save_restore, row.state})
        for function in (*row.writers, *row.readers):
            if function in by_name:
                module, code, name = by_name[function]
                sites = table.codes.setdefault(key_of(code), CodeSites(module.__name__, name, code))
                if function in row.writers:
                    sites.exit.append(Access(row.state, True))
                else:
                    sites.entry.append(Access(row.state, False))


def file_module(module: ModuleType, code: CodeType) -> None:
    """Remember the code a scenario file was executed from, so that it can be scanned like any module."""
    module.__harness_code__ = code  # type: ignore[attr-defined]


__all__ = ["file_module", "functions", "modules_of", "scan"]
