"""the shortest pytest command in which a test fails that passes alone; exit 1 found, 0 no test depends on others"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from harness import releases
from harness.errors import UserError
from harness.order import Command, Finding, Log, Question, carry_out

from . import options as shared

#: What pytest and Python read: another value is another question.
_VARIABLES = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTHONPATH", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONDEVMODE")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--test", default="", metavar="NODEID", help="the test that fails (default: the first that fails with all and not alone)")
    parser.add_argument("--repeats", type=shared.count, default=2, metavar="N", help="runs of the same that must agree (default 2)")
    parser.add_argument("--timeout", type=shared.seconds, default=300.0, metavar="S", help="seconds for one test, then it hangs (default 300)")
    parser.add_argument("--jobs", type=shared.count, metavar="N", help="runs at the same time (default: one a core; 1 where tests share a port or a file)")
    parser.add_argument("--no-gc", action="store_true", help="leave the collector alone: order only, and no fork within a test")
    parser.add_argument("--store", type=Path, metavar="DIR", help="the folder of the log, from which the same command goes on (default: in the user's cache folder)")
    parser.add_argument("--fresh", action="store_true", help="begin anew, whatever the log has")
    parser.add_argument("pytest", nargs=argparse.REMAINDER, metavar="-- pytest ARGS", help="as it fails")


def run(options: argparse.Namespace) -> int:
    command = Command.of(options.pytest)
    environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    question = Question(command.argv, command.folder, options.test, options.timeout, environment)
    folder = options.store or releases.cache.folder().parent / "order" / question.key
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--store {folder}: not a folder")
    with Log(folder / "order.jsonl", question, fresh=options.fresh) as log:
        if log.again:
            _say(f"begun anew: {log.again}")
        elif log.results:
            _say(f"{len(log.results)} runs are in {log.path}")
        jobs = options.jobs or len(os.sched_getaffinity(0))
        try:
            found = carry_out(
                command, log, test=options.test, repeats=options.repeats, jobs=jobs, seconds=options.timeout, tell=_say,
                collector=not options.no_gc,
            )  # fmt: skip
        except KeyboardInterrupt:
            _say(f"{len(log.results)} runs are kept in {log.path}; the same command goes on from there")
            raise
        _show(options, found, log)
    return int(found.found)


def _show(options: argparse.Namespace, found: Finding, log: Log) -> None:
    if options.json:
        shared.emit({**found.to_json(), "log": str(log.path)})
    else:
        print(found.text() if found.command else f"{found.text()}\nlog       {log.path}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
