"""environments of torch releases: add, list, remove; exit 0"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from harness.errors import UserError
from harness.releases import SOURCES, add, cache, installed, remove

from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("add", "list", "remove"))
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="a release of torch, as 2.12.1")
    parser.add_argument("--python", default="", metavar="X.Y", help="its Python (default: that of this one)")
    parser.add_argument("--source", choices=SOURCES, default="auto", help="where torch comes from (docs/releases.md)")
    parser.add_argument("--index", default="", metavar="URL", help="an index with CPU wheels")


def run(options: argparse.Namespace) -> int:
    if (options.action == "list") != (not options.versions):
        raise UserError(f"env {options.action}: " + ("takes no version" if options.versions else "say which release"))
    if options.action == "remove":
        for version in options.versions:
            if not remove(version, options.python):
                raise UserError(f"there is no environment of torch {version}; `harness env list` shows those there are")
    seconds = {}
    if options.action == "add":
        for version in options.versions:
            began = time.monotonic()
            made = add(
                version, options.python, source=options.source, index=options.index,
                tell=lambda text: print(text, file=sys.stderr, flush=True),
            )  # fmt: skip
            seconds[made.torch] = round(time.monotonic() - began, 1)
    rows: list[dict[str, Any]] = [
        {"torch": e.torch, "python": e.python, "source": e.source, "bytes": e.size, "path": str(e.path)}
        for e in installed()
    ]
    if options.json:
        shared.emit({"folder": str(cache.folder()), "environments": rows, "seconds": seconds})
        return 0
    for row in rows:
        print(f"torch {row['torch']:<10} Python {row['python']:<6} {row['source']:<9} {row['bytes'] / 1e9:5.2f} GB  {row['path']}")
    if not rows:
        print(f"no environments in {cache.folder()}")
    return 0
