"""the release of torch at which a failure appeared or was fixed; exit 0 found, 125 the last steps can't be tested"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from pathlib import Path

from harness import releases
from harness.bisect import Log, Question, report
from harness.bisect.candidates import choose
from harness.bisect.run import carry_out, stand_alone
from harness.errors import UserError
from harness.scenario.load import source_of
from harness.schedule import looks_like_token, write_text

from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", nargs="?", metavar="SCENARIO|TOKEN", help="whose failure is looked for")
    parser.add_argument("--script", metavar="CMD", help="or a command: 0 absent, 1 to 124 present, 125 can't be tested; its python is the release's")
    parser.add_argument("--old", default="", metavar="V", help="a release, or a nightly's date as 2026-11-01")
    parser.add_argument("--new", default="", metavar="V")
    parser.add_argument("--threads", type=shared.count, metavar="N", help="how many threads (default: the fewest that make sense)")
    parser.add_argument("--axis", action="append", default=[], metavar="NAME=VALUE", help="choose a value of one of the scenario's axes")
    parser.add_argument("--mode", choices=("gil", "free"), default=None, help="hand over only where the GIL could change hands (default), or anywhere")
    parser.add_argument("--matching", default="", metavar="REGEX", help="which failure is meant, by its signature (default: the first that an end shows)")
    parser.add_argument("--times", type=shared.count, default=None, metavar="N", help="runs of a schedule, or of the script, on each release (default 3; 1 of a script)")
    shared.add_search(parser, 2000)
    parser.add_argument("--python", default="", metavar="X.Y", help="the Python of all environments (default: that of this one)")
    parser.add_argument("--cached-only", action="store_true", help="only releases whose environments are at hand")
    parser.add_argument("--yanked", action="store_true", help="yanked releases too")
    parser.add_argument("--pre", action="store_true", help="pre-releases too")
    parser.add_argument("--source", choices=releases.SOURCES, default="auto", help="where torch comes from (docs/releases.md)")
    parser.add_argument("--index", default="", metavar="URL", help="the index that says which releases there are, and has the wheels")
    parser.add_argument("--log", type=Path, metavar="FILE", help="the log, from which the same command goes on (default: in the user's cache folder)")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="go on from this log, whatever was asked; a finished one gives its report again")
    parser.add_argument("--pull", action="append", default=[], metavar="URL", help="a pull request for the report")
    parser.add_argument("--jobs", type=shared.count, metavar="N", help="runs at the same time (default: one a core)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the report as Markdown, the stand-alone script in it")


def run(options: argparse.Namespace) -> int:
    with _log(options) as log:
        try:
            found = carry_out(log, jobs=options.jobs, tell=_say)
        except KeyboardInterrupt:
            _say(f"{len(log.steps)} releases tested, kept in {log.path}; the same command goes on from there")
            raise
        steps = log.steps
        if options.json:
            shared.emit({**report.as_json(log.question, steps, found), "log": str(log.path)})
        else:
            print(report.text(log.question, steps, found, str(log.path)))
        if options.output is not None:
            sys.stdout.flush()
            write_text(options.output, report.markdown(log.question, steps, found, stand_alone(log, found), options.pull))
    return 125 if found.between else 0


def _log(options: argparse.Namespace) -> Log:
    if options.replay is not None:
        if options.target or options.script or options.old or options.new or options.log:
            raise UserError("--replay: the log says what is asked, between which ends")
        return Log(options.replay)
    question = _question(options)
    default = releases.cache.folder().parent / "bisect" / f"{question.key}.jsonl"
    return Log(options.log or default, question)


def _question(options: argparse.Namespace) -> Question:
    """Raises UserError for whatever can be told before anything runs."""
    if bool(options.target) == bool(options.script):
        raise UserError("bisect: say a scenario, a token, or --script CMD, and one of them alone")
    if not options.old or not options.new:
        raise UserError("bisect: between which releases? (--old V --new V)")
    try:
        re.compile(options.matching)
    except re.error as error:
        raise UserError(f"--matching {options.matching!r}: {error}") from None
    kind, digest = "script", ""
    if options.target:
        is_token = looks_like_token(options.target)
        kind = "token" if is_token else "scenario"
        reference = options.target
        if is_token:
            schedule = shared.schedule_from(options.target)
            reference = schedule.scenario
            if options.mode is not None and (options.mode == "free") != schedule.free:
                raise UserError("--mode: the token says otherwise")
            options.mode = "free" if schedule.free else "gil"
        digest = hashlib.sha256(source_of(reference)).hexdigest()[:16]
    elif options.matching or options.threads or options.axis or options.mode:
        raise UserError("--script: a command has no signature, threads, axes or mode")
    python = options.python or releases.cache.this_python()
    chosen, left_out = choose(
        options.old, options.new, python, index=options.index, cached_only=options.cached_only, yanked=options.yanked,
        pre=options.pre,
    )  # fmt: skip
    return Question(
        options.target or options.script, kind, tuple(chosen), python, left_out, options.threads,
        shared.axes_as_said(options.axis), options.mode == "free", options.matching, options.budget, options.seed,
        options.times or (1 if kind == "script" else 3), digest, options.cached_only, options.source, options.index,
    )  # fmt: skip


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
