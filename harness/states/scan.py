"""The static scan: which states are there, and who touches them.

Two passes over the bytecode of every function (not of module and class bodies, which run once): the first finds the
states, by kind (:mod:`harness.states.kinds`); the second gives everything that touches one a site.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from types import CodeType, ModuleType

from .codes import Access, CodeSites, Table, key_of
from .declared import DECLARED
from .flow import Flow
from .kinds import ALL, KINDS, Found
from .kinds.makers import makers
from .kinds.operators import operators
from .kinds.releases import releases
from .modules import file_module, functions, module_code, modules_of
from .saves import Saves

Function = tuple[ModuleType, CodeType, str, bool]


def scan(
    names: Sequence[str],
    fine: Sequence[ModuleType] = (),
    points: Sequence[str] = ALL,
    entries: Sequence[str] = (),
) -> Table:
    """Scan the loaded modules below ``names`` and those of ``fine``, whose functions get all their places as points.

    ``points``: which kinds. ``entries``: packages every start of whose functions is a point.
    """
    table = Table(points=tuple(points))
    fine_names = {module.__name__ for module in fine}
    at_entry = {module.__name__ for module in modules_of(entries)} if "entries" in points else set()
    modules = {module.__name__: module for module in (*modules_of([*names, *entries]), *fine)}
    table.modules = len(modules)
    table.files = {vars(module).get("__file__") or f"{name}.py": name for name, module in modules.items()}

    code_list: list[Function] = []
    for module in modules.values():
        top = module_code(module)
        if top is not None:
            is_fine = module.__name__ in fine_names
            code_list += [(module, code, name, is_fine) for code, name, is_function in functions(top) if is_function]

    known: dict[int, Found] = {}
    _find_states(table, code_list, known, set(modules))
    _find_sites(table, code_list, known, at_entry)
    _add_declared(table, code_list)
    table.states = sorted(set(table.states).union(*table.by_kind.values()))
    return table


def _found(index: int, function: Function, known: dict[int, Found]) -> Found:
    if index not in known:
        module, code, name, fine = function
        known[index] = Found(module, name, code, Flow(code, module, name).run(), fine)
    return known[index]


def _find_states(table: Table, code_list: list[Function], known: dict[int, Found], owners: set[str]) -> None:
    for name, kind in KINDS.items():
        if name not in table.points:
            continue
        states: set[str] = set()
        for index, function in enumerate(code_list):
            if kind.may_make(function[1], function[3]):
                states.update(kind.makes(_found(index, function, known)))
        table.by_kind[name] = {s for s in states if _within(s, owners)} if kind.within else states


def _find_sites(table: Table, code_list: list[Function], known: dict[int, Found], at_entry: set[str]) -> None:
    words = {name: KINDS[name].words(states) for name, states in table.by_kind.items()}
    saves = Saves()
    for index, function in enumerate(code_list):
        module, code, _, fine = function
        sites: dict[int, list[Access]] = {}
        touched = [kind for kind in words if not words[kind].isdisjoint(code.co_names)]
        if touched:
            found = _found(index, function, known)
            sites = sites_among(found, {kind: table.by_kind[kind] for kind in touched})
            saves.look(found)
        is_entry = module.__name__ in at_entry
        if sites or fine or is_entry:
            table.codes[key_of(code)] = complete(_found(index, function, known), sites, table.points, is_entry)
    every = set().union(*table.by_kind.values())
    table.save_restore = sorted(every.intersection(saves.states()))


def complete(found: Found, sites: dict[int, list[Access]], points: Sequence[str], entered: bool = False) -> CodeSites:
    """Sites with what else is known of the code."""
    made = CodeSites(found.module.__name__, found.qualname, found.code, sites, fine=found.fine)
    made.entered = entered or found.fine
    made.makers = makers(found.events)
    if found.fine and "operators" in points:
        made.before = operators(found.events)
    if found.fine and "releases" in points:
        made.releases = releases(found.events)
    return made


def sites_among(found: Found, states: Mapping[str, Set[str]]) -> dict[int, list[Access]]:
    """Instruction offset -> accesses, for those that are of ``states``, given by kind."""
    sites: dict[int, list[Access]] = {}
    for name, of_kind in states.items():
        for offset, access in KINDS[name].sites(found, of_kind):
            here = sites.setdefault(offset, [])
            if access not in here:
                here.append(access)
    return sites


def _within(state: str, owners: set[str]) -> bool:
    """Only names of the scanned modules: a module outside them was not searched for readers."""
    state = state.replace(":", ".")
    while "." in state:
        state = state.rpartition(".")[0]
        if state in owners:
            return True
    return False


def _add_declared(table: Table, code_list: list[Function]) -> None:
    by_name = {f"{module.__name__}:{name}": (module, code, name) for module, code, name, _ in code_list}
    for row in DECLARED:
        present = [by_name[f] for f in row.writers if f in by_name]
        if not present:
            continue
        table.states.append(row.state)
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


__all__ = ["file_module", "functions", "modules_of", "scan", "sites_among"]
