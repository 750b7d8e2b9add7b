"""Judges a fix: schedules that fail without it are run with it, and the search is repeated under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from harness.errors import UserError
from harness.explain import Cause
from harness.fixes import Fix
from harness.run.job import Job
from harness.run.report import Report
from harness.schedule.schedule import Schedule
from harness.search import Exploration, Runner, explore
from harness.search.certify import holds, negative
from harness.search.reduce import reduce

from .why import cause_of, why_fails, why_holds

#: Outcomes that are damage without an error: a fix under which only these are left masks the failure.
_SILENT = frozenset({"wrong value", "graph changed", "state leaked", "not compiled"})


@dataclass
class Control:
    """The control arm: what fails without any fix.

    failing  schedules that fail, each with its report
    given    the schedule that was given, if one was
    remark   of it, where it does not fail here
    """

    explored: Exploration
    failing: list[tuple[Schedule, Report]] = field(default_factory=list)
    given: Schedule | None = None
    remark: str = ""
    _causes: list[Cause | None] = field(default_factory=list)

    def cause(self, runner: Runner) -> Cause | None:
        """Of the first that fails; found once, however many fixes are held against it."""
        if not self._causes:
            self._causes.append(cause_of(runner, self.failing[0][0])[1])
        return self._causes[0]

    @property
    def schedules(self) -> int:
        return bool(self.given) + self.explored.schedules

    @property
    def plain_passes(self) -> bool:
        """Without a switch, whichever thread starts."""
        return not any(report.failed for report in self.explored.controls)


@dataclass(frozen=True)
class Verdict:
    """fix        its name
    verdict    holds, fails, masks or untested
    schedules  how many were run under the fix
    points     the longest point sequence among them
    why        one sentence from the access log
    rests_on   the numbers behind it
    failing    the smallest schedule that fails under the fix, if one does
    """

    fix: str
    verdict: str
    schedules: int
    points: int
    why: str
    rests_on: str
    failing: Schedule | None = None


def control_arm(
    runner: Runner, base: Schedule, *, budget: int, seed: int = 0, known: Schedule | None = None, keep: int = 40,
    progress: Callable[[Exploration], None] | None = None,
) -> Control:
    """Search without a fix; up to ``keep`` failing schedules are kept, first of all ``known`` where that fails here."""
    control = Control(Exploration())
    if known is not None:
        control.given = known
        report = runner.wait(runner.start(Job(known)))
        if report.failed:
            control.failing.append((known, report))
        else:
            astray = " without meeting all its points" if report.unused else ""
            control.remark = f"the given schedule passes here{astray}"
    enough = iter(range(keep - 1))
    control.explored = explore(
        runner, base, budget=budget, seed=seed, progress=progress,
        stop=lambda schedule, report: next(enough, None) is None,
    )
    control.failing += control.explored.failures
    control.failing = control.failing[:keep]
    return control


def judge(
    runner: Runner, base: Schedule, fix: Fix, control: Control, *, budget: int, seed: int = 0,
    progress: Callable[[Exploration], None] | None = None, under: Runner | None = None,
) -> Verdict:
    """``under``: what makes the runs with the fix, where it is not ``runner``, which made those of the control arm.

    Raises UserError only where the scenario itself cannot be run.
    """
    try:
        left = _residue(runner, base, fix)
        verdict = _judge(runner, under or runner, base, fix, control, budget, seed, progress)
    except UserError as error:
        return Verdict(fix.name, "untested", 0, 0, f"the fix cannot be applied: {error}", "no run")
    if left and verdict.verdict in ("holds", "masks", "untested"):
        names = ", ".join(left[:4]) + (f" and {len(left) - 4} more" if len(left) > 4 else "")
        why = f"when it is no longer in force, it leaves changed: {names} (while it is in force: {verdict.verdict}, {verdict.why})"
        return replace(verdict, verdict="fails", why=why)
    return verdict


def _residue(runner: Runner, base: Schedule, fix: Fix) -> list[str]:
    if fix.in_runs == "none" or fix.processes:
        return []
    return [str(name) for name in runner.wait(runner.start(Job(base, fix.name, residue=True))).results]


def _judge(
    without: Runner, runner: Runner, base: Schedule, fix: Fix, control: Control, budget: int, seed: int,
    progress: Callable[[Exploration], None] | None,
) -> Verdict:
    plain = runner.wait(runner.start(Job(replace(base, directives=()), fix.in_runs)))
    if plain.failed and fix.name != "none" and control.plain_passes:
        verdict = "untested" if fix.processes else "fails"  # what bodies share through memory they don't share there
        why = f"under it the program fails without any switch: {plain.outcome}: {plain.message}"
        return Verdict(fix.name, verdict, 1, len(plain.log), why, "1 schedule")
    reports = [report for _, report in runner.map(Job(schedule, fix.in_runs) for schedule, _ in control.failing)]
    failing = [
        (schedule, report) for (schedule, _), report in zip(control.failing, reports, strict=True) if report.failed
    ]
    masked = any(report.outcome not in _SILENT for _, report in control.failing)  # an error, which may be gone
    decided = any(report.outcome not in _SILENT for _, report in failing) if masked else bool(failing)
    points = max((len(report.log) for report in reports), default=0)
    if decided:
        share = f"{len(failing)} of {len(reports)}"
        first = next((pair for pair in failing if pair[1].outcome not in _SILENT), failing[0])
        return fallen(runner, fix, "fails", first, len(reports), points, share, base, control.given)
    shown = masked and bool(failing)  # it is no good either way: for an error is looked no longer than it took without
    found = explore(
        runner, base, fix=fix.in_runs, seed=seed, progress=progress,
        budget=min(budget, control.schedules) if shown else budget,
        stop=lambda schedule, report: not masked or report.outcome not in _SILENT,
    )
    total, points = len(reports) + found.schedules, max(points, found.points)
    failing += found.failures
    if failing:
        errors = [pair for pair in failing if pair[1].outcome not in _SILENT]
        verdict = "fails" if errors or not masked else "masks"
        share = f"{len(failing)} of {total}"
        fell = fallen(runner, fix, verdict, (errors or failing)[0], total, points, share, base, control.given)
        ended = f"; a search for errors ended after {found.schedules} schedules, as many as the control arm's"
        return replace(fell, rests_on=fell.rests_on + ended) if shown and found.limit and not errors else fell
    if fix.name == "none":
        return Verdict("none", "untested", total, points, "nothing fails here", negative(found).says)
    certificate = holds(len(control.failing), 0, found)
    verdict = "holds" if certificate.certain else "untested"
    why = why_holds(control.cause(without), runner, fix, control.failing[0][0]) if control.failing else certificate.says
    astray = sum(bool(report.unused) for report in reports)
    says = certificate.says + (f"; {astray} of {len(reports)} passed without meeting all their points" if astray else "")
    return Verdict(fix.name, verdict, total, points, why, says)


def fallen(
    runner: Runner, fix: Fix, verdict: str, failing: tuple[Schedule, Report], runs: int, points: int, share: str, base: Schedule,
    given: Schedule | None = None,
) -> Verdict:
    """What a failing run under the fix makes of it. It counts only where it fails again. ``given`` is taken as small already."""
    schedule, report = failing
    if not runner.wait(runner.start(Job(schedule, fix.in_runs))).failed:
        why = f"{report.message}; run again it passes: the machine was too busy, or the program is not decided by the schedule"
        return Verdict(fix.name, "untested", runs, points, why, f"{share} schedules failed, once")
    if schedule != given:
        schedule, _, _ = reduce(runner, *failing, fix=fix.in_runs, held=base.axes)
    return Verdict(
        fix.name, verdict, runs, points, why_fails(runner, fix, schedule), f"{share} schedules fail", schedule
    )
