"""The user's own command, and the one that is printed."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UserError

from .trial import Collected

#: What children import the plugin from.
INSIDE = Path(__file__).resolve().parent / "inside"
PLUGIN = "switchpoint_order"


@dataclass(frozen=True)
class Command:
    """argv    as the user gave it, the program found
    folder  where it is run
    """

    argv: tuple[str, ...]
    folder: str

    @classmethod
    def of(cls, words: Sequence[str]) -> Command:
        """Raises UserError where there is no such program."""
        words = list(words[1:] if words[:1] == ["--"] else words)
        if not words:
            raise UserError("order: which tests? (harness order -- pytest ARGS)")
        if shutil.which(words[0]) is None:
            raise UserError(f"{words[0]}: no such program (harness order -- pytest ARGS)")
        return cls(tuple(words), os.getcwd())

    def shortest(self, tests: Sequence[str], about: Collected, gc: str = "", ordered: bool = False) -> tuple[str, ...]:
        """With these tests named in place of the user's own paths.

        ``gc``: when garbage is collected; ``ordered``: pytest would regroup them. Both need the plugin.
        """
        head, given = self._parts(about)
        words = [*head, *given, *about.plain]
        if gc or ordered:
            words += ["-p", PLUGIN, *(["--order-gc", gc] if gc else [])]
        return (*words, *(self._named(test, about) for test in tests))

    def _parts(self, about: Collected) -> tuple[list[str], list[str]]:
        """(what starts pytest, its options without the paths)."""
        args, argv = list(about.args), list(self.argv)
        # A wrapper (make, tox) has its own arguments: then pytest is started as it was seen.
        direct = argv[len(argv) - len(args) :] == args and len(argv) > len(args)
        head = argv[: len(argv) - len(args)] if direct else [about.python, "-m", "pytest"]
        for path in about.positional:
            if path in args:
                del args[len(args) - 1 - args[::-1].index(path)]
        return head, args

    def _named(self, test: str, about: Collected) -> str:
        """A node id begins with a path from pytest's root; the command line has it from the current folder."""
        path, colons, rest = test.partition("::")
        return os.path.relpath(os.path.join(about.rootdir, path), self.folder) + colons + rest


def shown(argv: Sequence[str]) -> str:
    """To be pasted in a shell."""
    text = shlex.join(argv)
    return f"PYTHONPATH={shlex.quote(str(INSIDE))} {text}" if PLUGIN in argv else text
