"""Fixes by name: one file each in this folder, or a user's own as ``module:name``."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.errors import UserError

_FOLDER = str(Path(__file__).parent)
_NOT_FIXES = {"registry"}


@dataclass(frozen=True)
class Fix:
    """apply      a context manager without arguments: in force inside, gone outside
    elsewhere  runs are made in another release of torch (and ``apply`` is None)
    late       it is put in force after set-up, when functions have been wrapped already
    lock       it lets one thread at a time through
    processes  each body runs in a process of its own (and ``apply`` is None)
    summary    the first line of its documentation
    """

    name: str
    summary: str
    apply: Callable[[], AbstractContextManager[object]] | None = None
    processes: bool = False
    late: bool = False
    elsewhere: bool = False
    lock: bool = False

    def manager(self) -> AbstractContextManager[object]:
        """To be entered. Raises UserError where what the fix gives is none; whatever the fix raises."""
        made: Any = self.apply() if self.apply is not None else nullcontext()
        if not hasattr(type(made), "__enter__"):
            kind = type(made).__name__
            raise UserError(f"fix {self.name} gives a {kind}, not a context manager (is @contextlib.contextmanager missing?)")
        return made

    @property
    def in_runs(self) -> str:
        """What runs under it are told to put in force."""
        return "none" if self.elsewhere else self.name


def fix_names() -> list[str]:
    return sorted(info.name for info in pkgutil.iter_modules([_FOLDER]) if info.name not in _NOT_FIXES and info.name[0] != "_")


def find_fix(name: str) -> Fix:
    """Raises UserError for a name that is none."""
    if name == "none":
        return Fix("none", "nothing: the program as it is")
    if name in fix_names():
        module = importlib.import_module(f"harness.fixes.{name}")
        summary = (module.__doc__ or "").strip().splitlines()[0]
        flags = {name.lower(): getattr(module, name, False) for name in ("PROCESSES", "LATE", "ELSEWHERE", "LOCK")}
        return Fix(name, summary, getattr(module, name, None), **flags)
    head, colon, attribute = name.partition(":")
    if not colon and name.endswith(".py"):
        raise UserError(f"fix {name}: which of its functions? {name}:FUNCTION")
    if not colon:
        near = difflib.get_close_matches(name, fix_names(), 1)
        if near:
            raise UserError(f"unknown fix {name!r}; did you mean {near[0]}? (harness list)")
        raise UserError(f"unknown fix {name!r}: none, {', '.join(fix_names())}, or your own as file.py:name or module:name")
    module = _own_module(head)
    apply = vars(module).get(attribute)
    if not callable(apply):
        raise UserError(f"fix {name}: {head} has no function {attribute!r}; a fix is a context manager without arguments")
    return Fix(name, (getattr(apply, "__doc__", None) or "").strip().partition("\n")[0], apply)


def own_modules(names: Iterable[str]) -> list[ModuleType]:
    """The modules in which fixes of the user's own are: what these do is part of the program. Raises UserError."""
    return [_own_module(name.partition(":")[0]) for name in names if ":" in name]


def _own_module(head: str) -> ModuleType:
    from harness.scenario.load import from_file, from_package

    loaded = sys.modules.get(Path(head).stem)  # the scenario's own file is not executed again
    if head.endswith(".py") and loaded is not None and loaded.__file__ == str(Path(head).resolve()):
        return loaded
    return from_file(Path(head)) if head.endswith(".py") else from_package(head)


def fix_of_a_run(name: str) -> Fix:
    """As :func:`find_fix`; raises UserError also for what only a verdict can be about."""
    fix = find_fix(name)
    if fix.elsewhere:
        raise UserError(f"fix {name}: judged by `harness check`; for runs in another release: --torch VERSION")
    return fix


def source_of(name: str) -> bytes:
    """What a fix is made of, for those who keep what was found under it: its file; nothing for ``none``."""
    from harness.scenario.load import file_of

    if name == "none":
        return b""
    if name in fix_names():
        return Path(_FOLDER, f"{name}.py").read_bytes()
    try:
        return file_of(name.partition(":")[0]).read_bytes()
    except OSError as error:
        raise UserError(f"fix {name}: {error.strerror}") from None
