"""One scenario, one choice of axes: its control arm, then every fix against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Any

from packaging.version import Version

from harness import releases
from harness.errors import UserError
from harness.fixes import Fix, find_fix, fix_names
from harness.run.launch import Launcher
from harness.schedule import Schedule
from harness.search import Exploration
from harness.search.certify import negative

from .judge import Control, Verdict, control_arm, judge

Progress = Callable[[Exploration], None]


@dataclass(frozen=True)
class Case:
    """axes  values of axes that are not the first of theirs"""

    scenario: str
    axes: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join([self.scenario, *(f"{name}={value}" for name, value in self.axes.items())])


@dataclass(frozen=True)
class Judged:
    """torch      the release of the control arm, of whose ``schedules`` ``failing`` failed
    rests_on   where none did, what that rests on
    remark     of a schedule that was given and does not fail there
    """

    case: Case
    torch: str
    schedules: int
    failing: int
    rests_on: str
    rows: list[Verdict]
    remark: str = ""

    @property
    def control(self) -> str:
        says = "" if self.failing else f" ({self.rests_on})"
        says += f"; {self.remark}" if self.remark else ""
        return f"{self.failing} failing of {self.schedules} schedules without a fix{says}"


def fixes_for(torch: bool) -> list[Fix]:
    """All that come with the harness; those that are about torch are for scenarios with torch."""
    every = [find_fix(name) for name in ("none", *fix_names())]
    return [fix for fix in every if torch or fix.processes or fix.name == "none"]


def judged(
    launcher: Launcher, base: Schedule, fixes: Sequence[Fix], *, budget: int, seed: int = 0,
    known: Schedule | None = None, progress: Callable[[str], Progress] = lambda text: lambda found: None,
    told: Callable[[Judged], None] = lambda so_far: None, before: Callable[[Fix], Verdict | None] = lambda fix: None,
) -> Judged:
    """``progress(what)`` is called as each part begins, and what it returns as that goes on; ``told`` after the control arm
    and after each verdict. ``before``: what was found of a fix the last time, or None."""
    control = control_arm(launcher, base, budget=budget, seed=seed, known=known, progress=progress("without a fix"))
    found = Judged(
        Case(base.scenario, base.axes), launcher.about["torch"], control.schedules, len(control.failing),
        "" if control.failing else negative(control.explored).says, [], control.remark,
    )  # fmt: skip
    told(found)
    for fix in fixes:
        found.rows.append(before(fix) or _verdict(launcher, base, fix, control, budget, seed, progress))
        told(found)
    return found


def _verdict(
    launcher: Launcher, base: Schedule, fix: Fix, control: Control, budget: int, seed: int,
    progress: Callable[[str], Progress],
) -> Verdict:  # fmt: skip
    if not fix.elsewhere:
        verdict = judge(launcher, base, fix, control, budget=budget, seed=seed, progress=progress(fix.name))
        return _on_cuda(verdict, fix, base)
    try:
        with newer(launcher) as other:
            return judge(launcher, base, fix, control, budget=budget, seed=seed, progress=progress(fix.name), under=other)
    except UserError as error:
        return Verdict(fix.name, "untested", 0, 0, str(error), "no run")


def _on_cuda(verdict: Verdict, fix: Fix, base: Schedule) -> Verdict:
    """A lock that holds on a CPU: on CUDA a checkpoint's recompute runs in a thread of the autograd engine, which takes
    the lock while the thread in backward has it."""
    if not fix.lock or verdict.verdict != "holds" or base.axes.get("recompute") == "engine":
        return verdict
    says = "; for CUDA untested: there a recompute runs in an engine thread (flag.checkpoint --axis recompute=engine)"
    return replace(verdict, rests_on=verdict.rests_on + says)


def releases_at_hand() -> dict[Version, str | None]:
    """The interpreter of each; None for the one that is installed here. Raises PackageNotFoundError without torch."""
    at_hand: dict[Version, str | None] = {
        Version(e.torch): e.interpreter for e in releases.installed() if e.python == releases.this_python()
    }
    at_hand[Version(Version(metadata.version("torch")).public)] = None
    return at_hand


@contextmanager
def newer(launcher: Launcher) -> Iterator[Launcher]:
    """The same scenario on the newest release of torch at hand. Raises UserError where that is not newer."""
    torch = launcher.about["torch"]
    if not torch:
        raise UserError("this scenario is without torch")
    at_hand = releases_at_hand()
    newest = max(at_hand)
    if newest <= Version(Version(torch).public):
        raise UserError(f"no release newer than {torch} is at hand; make one: harness env add VERSION")
    with Launcher(launcher.reference, free=launcher.free, jobs=launcher.jobs, python=at_hand[newest], fixes=launcher.fixes) as other:
        yield other
