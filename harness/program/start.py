"""Runs the program in this process as Python would: same ``__main__``, arguments and path, its end as an exception."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType

from harness.errors import UserError
from harness.states.scan import file_module

from .command import Command


def loaded(command: Command) -> Callable[[], None]:
    """What runs it from its beginning; it raises what the program raises, SystemExit too.

    Raises UserError where there is no such program.
    """
    random.seed(0)  # as the hash seed: a program that cares has its own
    if command.kind == "pytest":
        from .tests import run_pytest

        return lambda: run_pytest(list(command.arguments))
    main = ModuleType("__main__")
    if command.kind == "file":
        code = _of_file(Path(command.target), main)
    else:
        code = _of_module(command.target, main)
    file_module(main, code)

    def run() -> None:
        sys.modules["__main__"] = main
        sys.argv = [str(main.__file__) if command.kind == "module" else command.target, *command.arguments]
        exec(code, vars(main))

    return run


def _of_file(path: Path, main: ModuleType) -> CodeType:
    try:
        source = path.read_bytes()
        code = compile(source, str(path), "exec", dont_inherit=True)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise UserError(f"{path}{line}: {getattr(error, 'msg', error)}") from None
    main.__file__ = str(path)
    main.__spec__ = None
    sys.path[0] = str(path.resolve().parent)
    return code


def _of_module(name: str, main: ModuleType) -> CodeType:
    sys.path[0] = os.getcwd()
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError) as error:
        raise UserError(f"python -m {name}: {error}") from None
    get_code = getattr(spec.loader, "get_code", None) if spec is not None else None
    code = get_code(spec.name) if spec is not None and get_code is not None else None
    if spec is None or code is None:
        raise UserError(f"python -m {name}: no module of this name can be run")
    main.__file__, main.__spec__, main.__package__ = spec.origin, spec, spec.parent
    return code
