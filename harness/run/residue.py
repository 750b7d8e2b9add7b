"""Does a fix leave anything patched when it is no longer in force? It is put in force and taken off, and nothing else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any

from harness.states.scan import modules_of

from .settings import GROW, settings
from .world import World

_PATCHED = (FunctionType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, property, classmethod, staticmethod)
_ENDING = 5.0  # seconds that a thread of the fix has to end by itself: a cancelled timer, a pool that was shut down


def left_by(world: World, name: str) -> list[str]:
    """Names of the scenario's modules, and of their classes, that are not what they were before; settings of the process;
    imported modules that were taken out or replaced; functions and methods of any other module that were."""
    fix = world.fix(name)
    if fix is None or fix.apply is None:
        return []
    modules = [*modules_of(world.modules), world.module]
    threads = set(threading.enumerate())
    before, elsewhere, imported = _all(modules, world.module), _elsewhere(sys.modules), dict(sys.modules)
    with fix.manager():
        pass
    for thread in set(threading.enumerate()) - threads:
        thread.join(_ENDING)
    after = _all(modules, world.module)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    if sys.modules.keys() - imported.keys():
        changed = {name for name in changed if name not in GROW or not _only_more(before[name], after[name])}
    changed |= {f"{name} in sys.modules" for name, module in imported.items() if sys.modules.get(name) is not module}
    now = _elsewhere(imported)
    changed |= {name for name, value in elsewhere.items() if now.get(name) != value}
    return sorted(changed)


def _only_more(before: list[Any], after: list[Any]) -> bool:
    return all(one in after for one in before)


def _elsewhere(modules: Mapping[str, ModuleType]) -> dict[str, Any]:
    """Functions of all modules, and of their classes; a name that comes is none of these, since modules fill themselves."""
    found: dict[str, Any] = {}
    for module in list(modules.values()):
        if not isinstance(module, ModuleType):
            continue
        for name, value in _names(module.__name__, vars(module)):
            if isinstance(value, _PATCHED):
                found[name] = _mark(value)
            elif isinstance(value, type) and value.__module__ == module.__name__:
                found.update((inner, _mark(member)) for inner, member in _names(name, vars(value)) if isinstance(member, _PATCHED))
    return found


def _all(modules: list[ModuleType], own: ModuleType) -> dict[str, Any]:
    found = settings()
    for module in modules:
        found[f"{module.__name__}.__class__"] = id(type(module))
        for name, value in _names(module.__name__, vars(module)):
            found[name] = (_mark(value), _content(value)) if module is own else _mark(value)
            if isinstance(value, type) and value.__module__ == module.__name__:
                found.update((inner, _mark(member)) for inner, member in _names(name, vars(value)))
        config = vars(module).get("_config")
        if isinstance(config, dict) and hasattr(module, "shallow_copy_dict"):  # torch's configuration modules
            found.update((f"{module.__name__}.{key}", repr(getattr(module, key, None))) for key in config)
    return found


def _content(value: Any) -> Any:
    """Of a container: what is in it, by identity."""
    if type(value) is dict:
        return [(id(key), id(inner)) for key, inner in value.items()]
    return [id(inner) for inner in value] if type(value) in (list, set, tuple) else None


def _names(owner: str, space: Any) -> Iterator[tuple[str, Any]]:
    for name, value in list(space.items()):
        if name not in ("__builtins__", "__warningregistry__", "__dict__", "__weakref__"):
            yield f"{owner}.{name}", value


def _mark(value: Any) -> Any:
    if isinstance(value, FunctionType):
        return id(value), id(value.__code__), id(value.__defaults__), id(value.__kwdefaults__)
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    return id(value)
