"""The fixture ``race``: searches, replays, explains and judges from within a test."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import pytest

from harness.cli.options import check_schedule, schedule_from
from harness.errors import CannotTest, UserError
from harness.explain import as_text
from harness.fixes import fix_of_a_run
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule, to_token
from harness.search.certify import Certificate
from harness.verdict import Verdict, control_arm, judge
from harness.verdict.on_gc import on_gc
from harness.verdict.why import cause_of

from . import asked
from .answers import Explanation, Hunt, Replay
from .hunt import hunt
from .session import Session

P = ParamSpec("P")
R = TypeVar("R")


def _one_line(method: Callable[P, R]) -> Callable[P, R]:
    """A user's mistake fails the test in one line."""

    @functools.wraps(method)
    def shown(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except (UserError, CannotTest) as error:
            message = " ".join(str(error).split())
        pytest.fail(f"race: {message}", pytrace=False)

    return shown


class Race:
    """The fixture ``race``. What the marker says is the default of what a call doesn't say."""

    def __init__(self, session: Session, *, budget: int = 400, fix: str = "none", seed: int = 0) -> None:
        self.session = session
        self.default_budget, self.default_fix, self.default_seed = budget, fix, seed
        self.lines: list[str] = []

    @_one_line
    def find(
        self,
        scenario: str,
        *,
        matching: str = "",
        axes: dict[str, Any] | None = None,
        threads: int | None = None,
        mode: str = "gil",
        strategy: str = "portfolio",
        budget: int | None = None,
        fix: str | None = None,
        seed: int | None = None,
    ) -> Hunt:
        """Search, and reduce what was found.

        ``matching`` is a regular expression: the search goes on until a failure has it in its signature.
        """
        fix = self._fix(fix)
        if mode not in ("gil", "free"):
            raise UserError(f"mode {mode!r}: gil or free")
        matching, budget = asked.pattern(matching), asked.whole("budget", budget)
        asked.whole("threads", threads), asked.whole("seed", seed, 0)
        launcher = self.session.launcher(asked.text("scenario", scenario), mode == "free", [fix])
        base = asked.schedule(scenario, threads or launcher.about["threads"][0], axes, mode == "free")
        check_schedule(base, launcher)
        known = self.session.schedule
        if known is not None:
            return self._again(launcher, base, known, matching, fix)
        budget, seed = self._budget(budget), self.default_seed if seed is None else seed
        question = (repr(base), fix, budget, seed, strategy, matching)
        if question not in self.session.answers:
            self.session.answers[question] = hunt(launcher, base, matching, fix, budget, seed, strategy)
        answer: Hunt = self.session.answers[question]
        self._note(answer.token, fix)
        return answer

    def _again(self, launcher: Launcher, base: Schedule, known: Schedule, matching: str, fix: str) -> Hunt:
        """With ``--race-replay`` the schedule given is run in place of a search."""
        usual = {name: values[0] for name, values in launcher.about["axes"].items()}
        ours, theirs = ((s.scenario, s.free, {**usual, **s.axes}) for s in (base, known))
        if ours != theirs:
            pytest.skip(f"--race-replay is about {known.scenario} {known.axes or ''}".strip())
        check_schedule(known, launcher)
        report = _aligned(launcher.run(Job(known, fix)))
        self.session.replayed += 1
        rests_on = Certificate(False, "one schedule, replayed")
        if not report.failed or not re.search(matching, report.signature):
            return Hunt(False, 1, rests_on)
        self._note(to_token(known), fix)
        size = len(known.directives)
        return Hunt(True, 1, rests_on, to_token(known), report.outcome, report.signature, size)

    @_one_line
    def replay(self, token: str, *, times: int = 1, fix: str | None = None) -> Replay:
        schedule, fix = schedule_from(asked.text("token", token)), self._fix(fix)
        asked.whole("times", times)
        self._note(to_token(schedule), fix)
        launcher = self.session.launcher(schedule.scenario, schedule.free, [fix])
        check_schedule(schedule, launcher)
        reports = [report for _, report in launcher.map(Job(schedule, fix) for _ in range(times))]
        if not any(report.failed for report in reports):
            for report in reports:
                _aligned(report)
        digest, same = Counter(report.digest for report in reports).most_common(1)[0]
        chosen = next(report for report in reports if report.digest == digest)
        failed = sum(report.failed for report in reports)
        return Replay(times, failed, same, chosen.outcome, chosen.signature, digest)

    @_one_line
    def explain(self, token: str, *, fix: str | None = None) -> Explanation:
        schedule = schedule_from(asked.text("token", token))
        launcher = self.session.launcher(schedule.scenario, schedule.free, [self._fix(fix)])
        check_schedule(schedule, launcher)
        report, cause = cause_of(launcher, schedule, self._fix(fix))
        gc = on_gc(launcher, schedule, report, self._fix(fix))
        text = as_text(schedule, report, cause, gc.says)
        return Explanation(cause.state if cause is not None else "", text, gc.depends)

    @_one_line
    def check(
        self,
        scenario: str,
        *fixes: str,
        axes: dict[str, Any] | None = None,
        budget: int | None = None,
        seed: int | None = None,
    ) -> dict[str, Verdict]:
        """Judge fixes by name, against one control arm."""
        if self.session.schedule is not None:
            pytest.skip("--race-replay: a verdict is more than one schedule")
        known = [fix_of_a_run(name) for name in fixes]
        asked.whole("budget", budget), asked.whole("seed", seed, 0)
        launcher = self.session.launcher(asked.text("scenario", scenario), False, fixes)
        base = asked.schedule(scenario, launcher.about["threads"][0], axes, False)
        check_schedule(base, launcher)
        budget, seed = self._budget(budget), self.default_seed if seed is None else seed
        about = (repr(base), budget, seed)
        answers = self.session.answers
        if about not in answers:
            answers[about] = control_arm(launcher, base, budget=budget, seed=seed)
        verdicts: dict[str, Verdict] = {}
        for fix in known:
            question = (*about, fix.name)
            if question not in answers:
                answers[question] = judge(launcher, base, fix, answers[about], budget=budget, seed=seed)
            verdict = verdicts[fix.name] = answers[question]
            if verdict.failing is not None:
                self._note(to_token(verdict.failing), self._fix(fix.name))
        return verdicts

    def _fix(self, name: str | None) -> str:
        return self.session.fix or fix_of_a_run(name or self.default_fix).name

    def _budget(self, budget: int | None) -> int:
        return self.session.budget or budget or self.default_budget

    def _note(self, token: str, fix: str) -> None:
        line = f"harness replay {token}" + (f" --fix {fix}" if fix != "none" else "")
        if token and line not in self.lines:
            self.lines.append(line)


def _aligned(report: Report) -> Report:
    if report.unused and not report.failed:
        raise CannotTest(f"not aligned: {report.unused[0]} was never passed")
    return report
