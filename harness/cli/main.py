"""Parses, runs the command, turns mistakes into one line and an exit status."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import NoReturn

from harness.errors import CannotTest, UserError

#: In the order of the help text.
COMMANDS = (
    "list", "find", "run", "merge", "replay", "explain", "script", "check", "stress", "matrix", "bisect", "order", "env",
)  # fmt: skip
USER_MISTAKE, CANNOT_TEST, INTERRUPTED = 2, 125, 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see: {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="harness", description="Deterministic exploration of thread schedules.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=_version())
    parser.add_argument("--for-bisect", action="store_true", help="a user's mistake exits with 128, which stops git bisect")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name in COMMANDS:
        module = importlib.import_module(f"harness.cli.{name}_")
        help_text = (module.__doc__ or "").strip().splitlines()[0]
        sub = commands.add_parser(name, help=help_text, description=module.__doc__, allow_abbrev=False)
        sub.add_argument("--json", action="store_true", help="one JSON object on standard output")
        module.arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def _open_streams() -> None:
    """Where the caller closed one of the three, sockets and pipes would take its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number there is
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


def _version() -> str:
    try:
        return f"switchpoint {metadata.version('switchpoint')}"
    except metadata.PackageNotFoundError:
        return "switchpoint, not installed"


def main(argv: Sequence[str] | None = None) -> int:
    _open_streams()
    if argv is None:  # this process is the command's own: its Hypothesis keeps nothing in the folder where it is called
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(cache, "switchpoint", "hypothesis"))
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a program says may not be of this terminal's alphabet
    mistake = 128 if "--for-bisect" in arguments else USER_MISTAKE
    try:
        options = _parser().parse_args(arguments)
        status = options.run(options)
        sys.stdout.flush()
        return int(status)
    except UserError as error:
        print(f"harness: {_one_line(error)}", file=sys.stderr)
        return mistake
    except CannotTest as error:
        print(f"harness: {_one_line(error)}", file=sys.stderr)
        return CANNOT_TEST
    except KeyboardInterrupt:
        print("harness: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        print(f"harness: what was to be said could not be written: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python fails once more at its end
        return mistake


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:600]
