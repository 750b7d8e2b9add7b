"""put stores of campaigns together, and report what is in them: failures by signature"""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.campaign.groups import as_text, summary
from harness.campaign.merge import merge, write

from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stores", metavar="STORE", nargs="+", type=Path, help="of shards of one campaign; one alone is reported")
    parser.add_argument("-o", "--output", type=Path, metavar="STORE", help="a new store with all that is in them")


def run(options: argparse.Namespace) -> int:
    content = merge(options.stores)
    if options.output is not None:
        write(content, options.output)
    if options.json:
        shared.emit(summary(content))
    else:
        print(as_text(content))
    return 0
