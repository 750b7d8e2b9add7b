"""judge fixes: the schedules that fail without one are run with it, and the search is repeated under it.

With several scenarios, `all` (the flag and patcher families), or several releases (--torch V,V), one table.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.errors import UserError
from harness.fixes import Fix, find_fix
from harness.run.launch import Launcher
from harness.scenario.load import builtin_names
from harness.schedule import Schedule, looks_like_token, to_token
from harness.search import Exploration
from harness.table import Table, as_json, html, markdown, text
from harness.verdict import kept
from harness.verdict.case import Case, Judged, fixes_for, judged
from harness.verdict.cost import costs
from harness.verdict.judge import Verdict
from harness.verdict.sheet import sheet

from . import options as shared

_FORMATS: dict[str, Callable[[Table], str]] = {"text": text, "markdown": markdown, "html": html}
_FAMILIES = ("flag.", "patcher.")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", metavar="SCENARIO|TOKEN|all", nargs="+")
    parser.add_argument("--fix", action="append", default=[], metavar="F", help="which fixes, by name or your own as file.py:name (default: all that are for this scenario)")
    parser.add_argument("--require", choices=("holds",), help="exit 1 if a named fix falls short")
    parser.add_argument("--threads", type=shared.threads, metavar="N", help="how many threads")
    parser.add_argument("--axis", action="append", default=[], metavar="NAME=VALUE", help="choose a value of an axis")
    parser.add_argument("--format", choices=tuple(_FORMATS), help="of the table (default: text)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the table there")
    parser.add_argument("--fresh", action="store_true", help="of a table: judge again what was judged before")
    shared.add_runs(parser)
    shared.add_search(parser, 1000)


def run(options: argparse.Namespace) -> int:
    fixes = [find_fix(name) for name in options.fix]
    if options.scenario == ["all"] or len(options.scenario) > 1 or "," in options.torch:
        return _several(options, fixes)
    if options.format or options.output:
        raise UserError("--format and --output are for the table of several scenarios or releases")
    if options.fresh:
        raise UserError("--fresh is for the table of several scenarios or releases; of one nothing is kept")
    case, known = _asked(options.scenario[0])
    found = _one(options, fixes, case, known, told=(lambda so_far: None) if options.json else _tell)
    if options.json:
        shared.emit(
            {
                "scenario": case.scenario,
                "torch": found.torch,
                "control": {"schedules": found.schedules, "failing": found.failing, "remark": found.remark},
                "rows": [
                    {
                        "fix": row.fix, "verdict": row.verdict, "schedules": row.schedules, "points": row.points,
                        "why": row.why, "rests_on": row.rests_on, "token": to_token(row.failing) if row.failing else "",
                    }
                    for row in found.rows
                ],
            }
        )  # fmt: skip
    named = [row for row in found.rows if row.fix != "none"]
    return int(options.require == "holds" and any(row.verdict != "holds" for row in named))


def _tell(so_far: Judged) -> None:
    """The control arm, or the newest verdict, as soon as it is there."""
    if not so_far.rows:
        print(f"control: {so_far.control}", flush=True)
        return
    row = so_far.rows[-1]
    print(f"{row.fix:20} {row.verdict:9} {row.schedules} schedules, {row.points} points")
    print(f"{'':20} why: {row.why}")
    print(f"{'':20} rests on: {row.rests_on}")
    if row.failing:
        print(f"{'':20} harness replay {to_token(row.failing)}{_how(row.fix)}")
    sys.stdout.flush()


def _how(fix: str) -> str:
    return " (there: --torch VERSION)" if find_fix(fix).elsewhere else f" --fix {fix}"


def _asked(name: str) -> tuple[Case, Schedule | None]:
    """What a word of the command line says: a scenario, or a schedule of one."""
    if looks_like_token(name):
        known = shared.schedule_from(name)
        return Case(known.scenario, known.axes), known
    return Case(name), None


def _one(
    options: argparse.Namespace, fixes: list[Fix], case: Case, known: Schedule | None, *, keep: bool = False,
    told: Callable[[Judged], None] = lambda so_far: None,
) -> Judged:  # fmt: skip
    """``keep``: answers, as they come, and those that are there are not asked for again."""
    if known is not None and options.mode is not None and (options.mode == "free") != known.free:
        raise UserError("--mode: the token says otherwise")
    free = known.free if known else options.mode == "free"
    names = [fix.name for fix in fixes]
    options.scenario = case.scenario
    with Launcher(case.scenario, free=free, jobs=options.jobs, python=shared.interpreter(options), fixes=names) as launcher:
        if known is not None:
            shared.check_schedule(known, launcher)
        counts = shared.thread_counts(options, launcher)
        if len(counts) != 1:
            raise UserError("--threads: one number; a verdict is about one thread count")
        threads = known.threads if known and options.threads is None else counts[0]
        axes = {**case.axes, **shared.axes(options, launcher)}
        base = Schedule(case.scenario, threads, free=free, axes=axes)
        fixes = fixes or fixes_for(bool(launcher.about["torch"]))
        how = {"budget": options.budget, "seed": options.seed}
        release = launcher.about["torch"] or options.torch  # of a scenario without torch: as asked

        def key(of: list[Fix], part: str = "") -> str:
            return kept.key_of({**launcher.about, "torch": release}, base, of, known=known, part=part, **how)

        if keep and not options.fresh and (before := kept.recall(key(fixes), base)) is not None:
            return before
        progress = _Progress(options, str(Case(case.scenario, axes)))

        def tell(so_far: Judged) -> None:
            progress.end()
            told(so_far)
            if keep and so_far.rows:
                kept.keep_row(key([find_fix(so_far.rows[-1].fix)], "row"), so_far.rows[-1])

        def earlier(fix: Fix) -> Verdict | None:
            return kept.recall_row(key([fix], "row")) if keep and not options.fresh else None

        try:
            found = judged(launcher, base, fixes, known=known, progress=progress, told=tell, before=earlier, **how)
        finally:
            progress.end()
        found = replace(found, torch=release)
        if keep:
            kept.keep(key(fixes), found)
        return found


def _several(options: argparse.Namespace, fixes: list[Fix]) -> int:
    if (options.threads or options.axis) and (len(options.scenario) > 1 or options.scenario == ["all"]):
        raise UserError("--threads and --axis: for one scenario")
    if options.json and options.format:
        raise UserError("--json is a format of its own: leave out --format")
    asked = [(case, None) for case in _all()] if options.scenario == ["all"] else [_asked(name) for name in options.scenario]
    for case, _ in asked:
        if sum(str(other) == str(case) for other, _ in asked) > 1:
            raise UserError(f"{case} is named twice; a table has one column for it")
    releases = list(dict.fromkeys(filter(None, options.torch.replace(" ", "").split(",")))) or [""]
    if options.torch and releases == [""]:
        raise UserError(f"--torch {options.torch!r}: releases, with commas between them (2.12.1,2.15.0)")
    for options.torch in releases:  # before the first hour: is each there?
        python = shared.interpreter(options)
        _loaded(options, [case.scenario for case, _ in asked])
    found = []
    for options.torch in releases:
        found += [_one(options, fixes, case, known, keep=True) for case, known in asked]
    names = [row.fix for row in max(found, key=lambda case: len(case.rows)).rows]
    measured = {}
    if len(releases) == 1 and any(case.torch for case in found):
        measured = costs([name for name in names if find_fix(name).apply], python)
    table = sheet(found, measured, required=[name for name in names if options.require and name != "none"])
    shared.write(json.dumps(as_json(table)) if options.json else _FORMATS[options.format or "text"](table), options.output)
    return int(table.unexpected > 0)


def _loaded(options: argparse.Namespace, scenarios: list[str]) -> None:
    """Raises UserError for one that cannot be loaded. The first is loaded next, those that are built in are there."""
    for scenario in dict.fromkeys(scenarios[1:]):
        if scenario not in builtin_names():
            with Launcher(scenario, free=options.mode == "free", jobs=1, python=shared.interpreter(options)):
                pass


def _all() -> list[Case]:
    cases = [Case(name) for name in builtin_names() if name.startswith(_FAMILIES)]
    engine = Case("flag.checkpoint", {"recompute": "engine"})
    cases.insert(cases.index(Case("flag.checkpoint")) + 1, engine)
    return cases


class _Progress:
    """One line on standard error for each part, and a bar where that is a terminal."""

    def __init__(self, options: argparse.Namespace, case: str) -> None:
        self.options, self.case = options, case
        self.bar: shared.Progress | None = None

    def __call__(self, part: str) -> Callable[[Exploration], None]:
        self.end()
        print(f"{self.case}: {part}", file=sys.stderr)
        self.bar = shared.Progress(f"  {part}", self.options.budget)
        return self.bar

    def end(self) -> None:
        if self.bar is not None:
            self.bar.end()
