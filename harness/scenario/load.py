"""From a reference to a scenario: a built-in or registered name, ``file.py``, ``file.py:name`` or ``package.module:name``."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
import re
import sys
from pathlib import Path
from types import ModuleType

from harness.errors import UserError
from harness.states.scan import file_module

from . import builtin
from .api import Scenario
from .registered import registered, resolve
from .validate import validate


def builtin_names() -> list[str]:
    """``flag.warm`` is SCENARIO in ``builtin/flag_warm.py``."""
    return sorted(info.name.replace("_", ".", 1) for info in pkgutil.iter_modules(builtin.__path__) if info.name[0] != "_")


def load(reference: str) -> tuple[Scenario, ModuleType]:
    """The scenario and the module that defines it. Raises UserError in one line."""
    scenario, module = _found(reference)
    validate(scenario, reference)
    return scenario, module


def source_of(reference: str) -> bytes:
    """The file that defines the scenario, not executed (its package's ``__init__`` is). Raises UserError where there is
    none."""
    reference = resolve(reference)
    head, colon, _ = reference.partition(":")
    if reference in builtin_names():
        path = Path(next(iter(builtin.__path__))) / f"{reference.replace('.', '_', 1)}.py"
    elif head.endswith(".py") or (colon and all(part.isidentifier() for part in head.split("."))):
        path = file_of(head)
    else:
        raise unknown(reference)
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None


def file_of(head: str) -> Path:
    """``file.py``, or the file of ``package.module``."""
    return Path(head) if head.endswith(".py") else _package_file(head)


def _package_file(name: str) -> Path:
    sys.path.insert(0, "")
    try:
        spec = importlib.util.find_spec(name)
    except ImportError as error:
        raise UserError(f"{name}: cannot be imported: {error}") from None
    finally:
        sys.path.pop(0)
    if spec is None or not spec.origin:
        raise UserError(f"{name}: cannot be imported: there is no such module")
    return Path(spec.origin)


def unknown(reference: str) -> UserError:
    known = [*builtin_names(), *registered()]
    near = difflib.get_close_matches(reference, known, 1)
    if near:
        return UserError(f"unknown scenario {reference!r}; did you mean {near[0]}? (harness list)")
    return UserError(
        f"unknown scenario {reference!r}: a built-in ({', '.join(known)}), file.py:name or package.module:name"
    )


def _found(reference: str) -> tuple[Scenario, ModuleType]:
    if reference in builtin_names():
        module = importlib.import_module(f"{builtin.__name__}.{reference.replace('.', '_', 1)}")
        return module.SCENARIO, module
    head, colon, name = resolve(reference).partition(":")
    if head.endswith(".py"):
        module = from_file(Path(head))
    elif colon and all(part.isidentifier() for part in head.split(".")):
        module = from_package(head)
    else:
        raise unknown(reference)
    return _pick(module, name, reference), module


def _pick(module: ModuleType, name: str, reference: str) -> Scenario:
    found = {key: value for key, value in vars(module).items() if isinstance(value, Scenario)}
    if name:
        if name not in found:
            have = ", ".join(found) or "none"
            raise UserError(f"{reference}: no scenario {name!r} in it (it has: {have})")
        return found[name]
    if not found:
        raise UserError(f"{reference}: no scenario in it; it needs one at its top level: NAME = Scenario(bodies=[...])")
    if len(found) > 1:
        raise UserError(f"{reference}: it defines {len(found)} scenarios; say which with :NAME ({', '.join(found)})")
    return next(iter(found.values()))


def from_file(path: Path) -> ModuleType:
    try:
        source = path.read_bytes()
    except OSError as error:
        where = "" if path.is_absolute() else f" (looked for from {Path.cwd()})"
        raise UserError(f"{path}: {error.strerror}{where}") from None
    name = _module_name(path)
    try:
        code = compile(source, str(path.resolve()), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise UserError(f"{path}{line}: {getattr(error, 'msg', error)}") from None
    module = ModuleType(name)
    module.__file__ = str(path.resolve())
    file_module(module, code)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        exec(code, module.__dict__)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UserError(f"{path}: raised while being imported: {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(folder)
    sys.path.append(folder)  # what its bodies import late is found too, and hides no module of the library
    return module


def _module_name(path: Path) -> str:
    """The file's name as points have it: without what a token cannot hold, and hiding no other module."""
    name = re.sub(r"[\s@,]", "_", path.stem)
    known = sys.modules.get(name)
    taken = name in sys.stdlib_module_names or (
        known is not None and getattr(known, "__file__", None) != str(path.resolve()) and not hasattr(known, "__harness_code__")
    )
    return f"{name}_scenario" if taken else name


def from_package(name: str) -> ModuleType:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UserError(f"{name}: cannot be imported: {error}") from None
    except (Exception, SystemExit) as error:
        raise UserError(f"{name}: raised while being imported: {type(error).__name__}: {error}") from None
    finally:
        sys.path.pop(0)
