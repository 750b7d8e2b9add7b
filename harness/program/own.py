"""Which of the loaded modules are looked at for points: the program's own, and torch's where it is in use."""

from __future__ import annotations

import os
import sys
import sysconfig
from types import ModuleType

from harness.errors import UserError
from harness.scenario import TORCH_MODULES
from harness.states.modules import module_code, modules_of

from . import collected
from .command import Command

_OURS = ("harness", "_pytest", "pytest")
_ELSEWHERE = tuple(
    {os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)


def uses_torch() -> bool:
    return "torch" in sys.modules


def fine(command: Command) -> list[ModuleType]:
    """Every place in their functions is a point. Raises UserError for a name that is not loaded."""
    main = sys.modules["__main__"]
    found = list(collected.modules) if command.kind == "pytest" else [main]
    for name in command.fine:
        if name not in sys.modules:
            raise UserError(f"--fine {name}: the program has not imported it when it starts its first thread")
        found.append(sys.modules[name])
    return found


def scanned(command: Command) -> list[str]:
    """Names of the packages and modules whose process-wide state has points. Raises UserError for one not loaded."""
    for name in command.modules:
        if not any(loaded == name or loaded.startswith(name + ".") for loaded in list(sys.modules)):
            raise UserError(f"--module {name}: the program has not imported it when it starts its first thread")
    if command.modules:
        return list(command.modules)
    return [*_own(), *(TORCH_MODULES if uses_torch() else ())]


def beside(command: Command) -> list[str]:
    """The program's own modules that ``--module`` leaves out."""
    if not command.modules:
        return []
    looked_into = {module.__name__ for module in (*modules_of(command.modules), *fine(command))}
    return [name for name in _own() if name not in looked_into]


def _own() -> list[str]:
    folders = tuple({os.path.realpath(folder or os.curdir) + os.sep for folder in (sys.path[0], os.getcwd())})
    return sorted(name for name, module in list(sys.modules.items()) if _is_own(name, module, folders))


def _is_own(name: str, module: ModuleType | None, folders: tuple[str, ...]) -> bool:
    file = getattr(module, "__file__", None)
    if module is None or not isinstance(file, str) or name == "__main__" or name.partition(".")[0] in _OURS:
        return False
    path = os.path.realpath(file)
    if path.startswith(_ELSEWHERE) or "site-packages" in path or not path.startswith(folders):
        return False
    return module_code(module) is not None
