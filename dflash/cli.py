"""`dflash`: train, regenerate, generate, eval, export, demo, doctor."""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Sequence
from typing import NoReturn

from dflash.commands import COMMANDS
from dflash.errors import UserError


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, without the usage."""
        self.exit(2, f"{self.prog}: {message} (see: {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """The whole command line; each command adds its own options."""
    top = _Parser(prog="dflash", description="Train and use DFlash drafters (arXiv 2602.06036).")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        line = (module.__doc__ or "").strip().splitlines()[0]
        one = commands.add_parser(name, help=line, description=line)
        one.add_argument(
            "--json", action="store_true", help="print one JSON object; progress goes to standard error"
        )
        module.add_arguments(one)
        one.set_defaults(run=module.run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 for success, 2 for a mistake that the user can mend, 130 when interrupted."""
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except UserError as error:
        print(f"dflash {options.command}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of our output left
            return 0
        where = f"{error.filename}: " if error.filename else ""
        print(f"dflash {options.command}: {where}{error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        where = f"; {error}" if str(error) else ""
        print(f"dflash {options.command}: interrupted{where}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
