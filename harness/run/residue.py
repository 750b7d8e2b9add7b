"""Does a fix leave anything patched when it is no longer in force? It is put in force and taken off, and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from harness.states.scan import modules_of

from .settings import settings
from .world import World


def left_by(world: World, name: str) -> list[str]:
    """Names of the scenario's modules, and of their classes, that are not what they were before, settings of the process,
    and imported modules that were taken out or replaced."""
    fix = world.fix(name)
    if fix is None or fix.apply is None:
        return []
    modules = [*modules_of(world.modules), world.module]
    before, imported = _all(modules), dict(sys.modules)
    with fix.manager():
        pass
    after = _all(modules)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    changed |= {f"{name} in sys.modules" for name, module in imported.items() if sys.modules.get(name) is not module}
    return sorted(changed)


def _all(modules: list[ModuleType]) -> dict[str, Any]:
    found = settings()
    for module in modules:
        found[f"{module.__name__}.__class__"] = id(type(module))
        for name, value in _names(module.__name__, vars(module)):
            found[name] = _mark(value)
            if isinstance(value, type) and value.__module__ == module.__name__:
                found.update((inner, _mark(member)) for inner, member in _names(name, vars(value)))
        config = vars(module).get("_config")
        if isinstance(config, dict) and hasattr(module, "shallow_copy_dict"):  # torch's configuration modules
            found.update((f"{module.__name__}.{key}", repr(getattr(module, key, None))) for key in config)
    return found


def _names(owner: str, space: Any) -> Iterator[tuple[str, Any]]:
    for name, value in list(space.items()):
        if name not in ("__builtins__", "__warningregistry__", "__dict__", "__weakref__"):
            yield f"{owner}.{name}", value


def _mark(value: Any) -> Any:
    if isinstance(value, FunctionType):
        return id(value), id(value.__code__)
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    return id(value)
