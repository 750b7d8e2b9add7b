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
    """torch  the release of the control arm"""

    case: Case
    torch: str
    control: Control
    rows: list[Verdict]


def fixes_for(torch: bool) -> list[Fix]:
    """All that come with the harness; those that are about torch are for scenarios with torch."""
    every = [find_fix(name) for name in ("none", *fix_names())]
    return [fix for fix in every if torch or fix.processes or fix.name == "none"]


def judged(
    launcher: Launcher, base: Schedule, fixes: Sequence[Fix], *, budget: int, seed: int = 0,
    known: Schedule | None = None, progress: Callable[[str], Progress] = lambda text: lambda found: None,
) -> Judged:
    """``progress(what)`` is called as each part begins, and what it returns as that goes on."""
    control = control_arm(launcher, base, budget=budget, seed=seed, known=known, progress=progress("without a fix"))
    rows = []
    for fix in fixes:
        if not fix.elsewhere:
            verdict = judge(launcher, base, fix, control, budget=budget, seed=seed, progress=progress(fix.name))
            rows.append(_on_cuda(verdict, fix, base))
            continue
        try:
            with newer(launcher) as other:
                rows.append(
                    judge(
                        launcher, base, fix, control, budget=budget, seed=seed, progress=progress(fix.name), under=other
                    )
                )
        except UserError as error:
            rows.append(Verdict(fix.name, "untested", 0, 0, str(error), "no run"))
    return Judged(Case(base.scenario, base.axes), launcher.about["torch"], control, rows)


def _on_cuda(verdict: Verdict, fix: Fix, base: Schedule) -> Verdict:
    """A lock that holds on a CPU: on CUDA a checkpoint's recompute runs in a thread of the autograd engine, which takes
    the lock while the thread in backward has it."""
    if not fix.lock or verdict.verdict != "holds" or base.axes.get("recompute") == "engine":
        return verdict
    says = "; for CUDA untested: there a recompute runs in an engine thread (flag.checkpoint --axis recompute=engine)"
    return replace(verdict, rests_on=verdict.rests_on + says)


@contextmanager
def newer(launcher: Launcher) -> Iterator[Launcher]:
    """The same scenario on the newest release of torch at hand. Raises UserError where that is not newer."""
    torch = launcher.about["torch"]
    if not torch:
        raise UserError("this scenario is without torch")
    at_hand: dict[Version, str | None] = {
        Version(e.torch): e.interpreter for e in releases.installed() if e.python == releases.this_python()
    }
    own = Version(Version(metadata.version("torch")).public)
    at_hand[own] = None
    newest = max(at_hand)
    if newest <= Version(Version(torch).public):
        raise UserError(f"no release newer than {torch} is at hand; make one: harness env add VERSION")
    with Launcher(launcher.reference, free=launcher.free, jobs=launcher.jobs, python=at_hand[newest], fixes=launcher.fixes) as other:
        yield other
