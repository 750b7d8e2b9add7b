"""One release, asked whether it has the failure: schedules that fail nearby are replayed first; then it is searched.

A schedule that passes is no proof of absence: its points may be passed another number of times. Only a search that came
to its end is.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.errors import CannotTest, UserError
from harness.releases import Environment
from harness.releases.commit import commit_of
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.scenario.threads import in_words
from harness.schedule import Schedule, from_token, to_token
from harness.search import Exploration, explore
from harness.search.certify import negative
from harness.search.reduce import reduce

from .question import Question
from .same import Wanted
from .step import Step


def wanted(question: Question, steps: Mapping[str, Step]) -> Wanted:
    """What the first step that showed it says; before that, what was asked for."""
    if question.matching:
        return Wanted(matching=question.matching)
    seen = next((step for step in steps.values() if step.result == "present"), None)
    return Wanted(seen.outcome, seen.signature) if seen is not None else Wanted()


def known_schedules(question: Question, steps: Mapping[str, Step], release: str) -> list[Schedule]:
    """Schedules that failed, of the nearest release first, and the one that was asked about."""
    order = question.releases.index
    near = sorted(steps.values(), key=lambda step: abs(order(step.torch) - order(release)))
    tokens = [step.token for step in near if step.token] + ([question.target] if question.kind == "token" else [])
    return [from_token(token) for token in dict.fromkeys(tokens)]


def ask(
    question: Question, steps: Mapping[str, Step], release: str, environment: Environment, jobs: int | None = None
) -> Step:
    """Raises CannotTest where the scenario can't be run there."""
    began = time.monotonic()
    reference = from_token(question.target).scenario if question.kind == "token" else question.target
    try:
        with Launcher(reference, free=question.free, jobs=jobs, python=environment.interpreter) as launcher:
            tried = _Test(question, launcher, wanted(question, steps), release)
            step = tried.by_replay(known_schedules(question, steps, release)) or tried.by_search()
            build = str(launcher.about["torch"] or "")
    except UserError as error:
        raise CannotTest(f"torch {release}: the scenario can't be run there: {error}") from None
    seconds = round(time.monotonic() - began, 1)
    return replace(step, build=build, git=commit_of(environment.interpreter), seconds=seconds)


@dataclass
class _Test:
    question: Question
    launcher: Launcher
    wanted: Wanted
    release: str

    def _home(self) -> Schedule:
        asked = from_token(self.question.target) if self.question.kind == "token" else None
        threads = self.question.threads or (asked.threads if asked else self.launcher.fewest)
        axes = {**(asked.axes if asked else {}), **self.question.axes}
        low, high = self.launcher.about["threads"]
        if not low <= threads <= high:
            raise UserError(f"it makes sense with {in_words(low, high)}")
        for name, value in axes.items():
            if value not in self.launcher.about["axes"].get(name, ()):
                raise UserError(f"it has no axis {name} with the value {value!r}")
        reference = self.launcher.reference
        return Schedule(reference, threads, free=self.question.free, axes=axes)

    def by_replay(self, known: Sequence[Schedule]) -> Step | None:
        for schedule in known:
            if not self.wanted.known:  # the token says which failure is meant
                first = self.launcher.run(Job(schedule))
                if not first.failed:
                    continue
                self.wanted = Wanted(first.outcome, first.signature)
            reports = self._runs(schedule)
            ours = [report for report in reports if self.wanted(report)]
            if ours:
                how = f"the schedule replayed, {len(ours)} of {len(reports)} runs failed"
                return self._present(schedule, ours[0], reports, len(ours), how)
        return None

    def by_search(self) -> Step:
        home = self._home()
        found = explore(
            self.launcher, home, budget=self.question.budget, seed=self.question.seed,
            stop=lambda schedule, report: self.wanted(report) or not schedule.directives,  # then it is broken
        )  # fmt: skip
        ours = [pair for pair in found.failures if self.wanted(pair[1])]
        others = tuple(sorted({report.signature for _, report in found.failures if not self.wanted(report)}))
        if ours:
            schedule, report, _ = reduce(self.launcher, *ours[0], held=home.axes)
            reports = self._runs(schedule)
            failed = sum(map(self.wanted, reports))
            why = f"found after {found.schedules} schedules, {failed} of {len(reports)} replays failed"
            step = self._present(schedule, report, reports, failed, why)
            return replace(step, schedules=found.schedules, others=others)
        return self._not_found(found, others)

    def _not_found(self, found: Exploration, others: tuple[str, ...]) -> Step:
        """Absent only where a finished search says so, and the program works without a switch."""
        broken = next((report for schedule, report in found.failures if not schedule.directives), None)
        if broken is not None:
            why = f"it fails there without any switch: {broken.outcome}: {broken.message}"
            return Step(self.release, "skip", why[:400], schedules=found.schedules, others=others)
        rests_on = negative(replace(found, failures=[]))
        result = "absent" if rests_on.certain else "skip"
        return Step(self.release, result, rests_on.says, schedules=found.schedules, others=others)

    def _runs(self, schedule: Schedule) -> list[Report]:
        return [report for _, report in self.launcher.map(Job(schedule) for _ in range(self.question.times))]

    def _present(self, schedule: Schedule, report: Report, reports: list[Report], failed: int, why: str) -> Step:
        same = Counter(each.digest for each in reports).most_common(1)[0][1]
        return Step(
            self.release, "present", why, outcome=report.outcome, signature=report.signature, message=report.message,
            token=to_token(schedule), times=len(reports), failed=failed, same=same,
        )  # fmt: skip
