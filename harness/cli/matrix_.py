"""scenarios x releases x fixes; exit 0, or 1 where a cell is not what the table of expectations says"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from packaging.version import Version

from harness import releases, table
from harness.errors import UserError
from harness.matrix import carry_out, lines, rows
from harness.matrix import table as drawn
from harness.matrix.plan import table_of
from harness.schedule import write_text

from . import options as shared

FORMATS: dict[str, Callable[[table.Table], str]] = {
    "text": table.text, "markdown": table.markdown, "html": table.html, "junit": table.junit,
}  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    what = "scenarios, tokens, or families (flag: all that begin with flag.)"
    parser.add_argument("scenario", metavar="SCENARIO|TOKEN", nargs="+", help=what)
    parser.add_argument("--torch", default="", metavar="V,V", help="releases (default: all whose environments are at hand)")
    parser.add_argument("--python", default="", metavar="X.Y", help="the Python of all environments (default: that of this one)")
    parser.add_argument("--fix", action="append", default=[], metavar="F", help="fixes, each a row of its own (default: none)")
    parser.add_argument("--expect", type=Path, metavar="FILE", help="a table of what is expected of which release, as repro/expectations.toml")
    parser.add_argument("--mode", choices=("gil", "free"), default=None, help="hand over only where the GIL could change hands (default), or anywhere")
    shared.add_search(parser, 2000)
    parser.add_argument("--cached-only", action="store_true", help="make no environment: releases that have none are undecided")
    parser.add_argument("--fresh", action="store_true", help="ask every cell again")
    parser.add_argument("--source", choices=releases.SOURCES, default="auto", help="where torch comes from (docs/releases.md)")
    parser.add_argument("--index", default="", metavar="URL", help="an index with CPU wheels")
    parser.add_argument("--jobs", type=shared.count, metavar="N", help="cells at the same time (default: what processors and memory allow)")
    parser.add_argument("--format", choices=tuple(FORMATS), default=None, help="default: text")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it there")


def run(options: argparse.Namespace) -> int:
    if options.json and options.format is not None:
        raise UserError("--json is a format of its own: leave out --format")
    python = options.python or releases.cache.this_python()
    versions = _versions(options.torch, python)
    asked = lines(options.scenario, options.fix or ["none"], table_of(options.expect))
    matrix = [
        (line, [line.cell(v, python, budget=options.budget, seed=options.seed, free=options.mode == "free") for v in versions])
        for line in asked
    ]
    cells = [cell for _, row in matrix for cell in row]
    try:
        answers = carry_out(
            cells, jobs=options.jobs, cached_only=options.cached_only, fresh=options.fresh, tell=_say, source=options.source,
            index=options.index,
        )  # fmt: skip
    except KeyboardInterrupt:
        _say("cells that are done are kept; the same command goes on from there")
        raise
    made = drawn("Races by release of torch", matrix, answers)
    if options.json:
        shared.emit({"rows": rows(matrix, answers), "table": table.as_json(made)})
    else:
        text = FORMATS[options.format or "text"](made)
        if options.output is None:
            print(text, end="")
        else:
            write_text(options.output, text)
    return int(made.unexpected > 0)


def _versions(text: str, python: str) -> list[str]:
    """In the order of PEP 440."""
    names = [name.strip() for name in text.split(",") if name.strip()] if text else []
    if text and not names:
        raise UserError("--torch: releases, with commas between them (2.12.1,2.15.0)")
    if not names:
        names = [each.torch for each in releases.installed() if each.python == python] + [releases.cache.this_release()]
        if not (names := [name for name in names if name]):
            raise UserError("no environment is at hand; say with --torch which releases")
    return sorted(dict.fromkeys(releases.cache.release(name) for name in names), key=Version)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
