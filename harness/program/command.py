"""What is to be run, and its form as the reference of a scenario: ``run:--module app python prog.py 3``.

All that decides which points there are is in the reference, and so in every token: a token replays by itself.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import UserError

PREFIX = "run:"
SECONDS = 60.0
_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_PROCESSES = re.compile(r"-n.*|--numprocesses(=.*)?|--dist(=.*)?|--forked|--boxed")


@dataclass(frozen=True)
class Command:
    """kind       ``file``, ``module`` or ``pytest``
    target     the file, or the module's name; empty for pytest
    arguments  what follows it
    modules    packages whose process-wide state has points; empty is the default set
    fine       modules in which every place is a point, beside the program's own file or tests
    restart    every run begins at the program's beginning, not where it starts its first thread
    seconds    a run that takes longer is a hang
    """

    kind: str
    target: str
    arguments: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()
    restart: bool = False
    seconds: float = SECONDS

    @property
    def words(self) -> list[str]:
        """As it is typed behind ``harness run --``."""
        head = {"file": ["python", self.target], "module": ["python", "-m", self.target], "pytest": ["pytest"]}
        return [*head[self.kind], *self.arguments]

    @property
    def line(self) -> str:
        return shlex.join(self.words)

    @property
    def reference(self) -> str:
        said = ["--restart"] if self.restart else []
        said += [word for name in self.modules for word in ("--module", name)]
        said += [word for name in self.fine for word in ("--fine", name)]
        said += ["--run-seconds", f"{self.seconds:g}"] if self.seconds != SECONDS else []
        return PREFIX + shlex.join([*said, *self.words])

    def restarted(self) -> Command:
        return replace(self, restart=True)


def from_arguments(words: Sequence[str], **options: Any) -> Command:
    """``words`` as behind ``--``. Raises UserError for what cannot be run this way."""
    if not words:
        raise UserError("what is to be run? harness run -- python prog.py …, or harness run -- pytest …")
    name, rest = Path(words[0]).name, list(words[1:])
    if name in ("pytest", "py.test"):
        return _made("pytest", "", rest, options)
    if name.endswith(".py"):
        raise UserError(f"{words[0]}: say how it is run: harness run -- python {shlex.join(words)}")
    if not _PYTHON.fullmatch(name):
        raise UserError(f"{words[0]}: only Python programs can be run under control (python prog.py, python -m module, pytest)")
    if not rest:
        raise UserError("python: which program? (python prog.py, or python -m module)")
    if rest[0] == "-m":
        if len(rest) < 2:
            raise UserError("python -m: which module?")
        if rest[1] == "pytest":
            return _made("pytest", "", rest[2:], options)
        return _made("module", rest[1], rest[2:], options)
    if rest[0].startswith("-"):
        raise UserError(f"python {rest[0]}: options of the interpreter cannot be honoured; only python prog.py and python -m module")
    return _made("file", rest[0], rest[1:], options)


def _made(kind: str, target: str, arguments: list[str], options: dict[str, Any]) -> Command:
    if kind == "pytest":
        for word in arguments:
            if _PROCESSES.fullmatch(word):
                raise UserError(f"pytest {word}: tests in other processes are not under control; leave it out")
    return Command(kind, target, tuple(arguments), **options)


def from_reference(reference: str) -> Command:
    """Raises UserError where it is not what :attr:`Command.reference` makes."""
    modules: list[str] = []
    fine: list[str] = []
    options: dict[str, Any] = {}
    try:
        words = shlex.split(reference.removeprefix(PREFIX))
        while words and words[0].startswith("--"):
            name = words.pop(0)
            if name == "--restart":
                options["restart"] = True
            elif name == "--run-seconds":
                options["seconds"] = float(words.pop(0))
            else:
                {"--module": modules, "--fine": fine}[name].append(words.pop(0))
    except (ValueError, KeyError, IndexError):
        raise UserError(f"{reference}: not a program as `harness run` names it") from None
    return from_arguments(words, modules=tuple(modules), fine=tuple(fine), **options)
