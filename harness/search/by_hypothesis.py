"""Hypothesis as the last strategy: thread count, axes, who starts, directives and collections drawn together.

``@given`` runs to its end in a thread of its own; each of its calls is a proposal, and returns when the run has been told.
How many conflicting points the run passed is its ``target``, so that what goes where others did not is drawn from again.
Nothing is read from or written to its database here: the seed alone says what is drawn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from harness.control import raw
from harness.run.report import Report
from harness.schedule.schedule import Schedule

from .strategy import Proposal

if TYPE_CHECKING:
    from .drawing import Start

EXAMPLES = 40  #: schedules at most


class _Enough(Exception):
    """The search is over: leave Hypothesis."""


class ByHypothesis:
    """``controls``: runs without a directive, of every shape there is; asked for when the first proposal is."""

    name = "hypothesis"
    share = 0.0  # last: it has its turn when the others have nothing left

    def __init__(self, seed: int, controls: Callable[[], list[tuple[Proposal, Report]]]) -> None:
        self._seed, self._controls = seed, controls
        self._asked, self._answered = raw.allocate_lock(), raw.allocate_lock()
        self._proposal: Schedule | None = None
        self._report: Report | None = None
        self._started = self._over = self._closed = False
        self._seen: set[Schedule | str] = set()
        self.error: BaseException | None = None

    def next(self) -> Proposal | None:
        """None when Hypothesis has ended. Raises what it raised, if that was not our doing."""
        if self._over or self._closed:
            return None
        if not self._started:
            import hypothesis  # noqa: F401  # in this thread: an import in the other could wait for one here

            self._started = True
            self._asked.acquire()
            self._answered.acquire()
            raw.start_new_thread(self._work, ())
        else:
            self._answered.release()
        self._asked.acquire()
        if self._over:
            if self.error is not None:
                raise self.error
            return None
        assert self._proposal is not None
        return Proposal(self._proposal, self.name)

    def told(self, proposal: Proposal, report: Report) -> None:
        self._report = report

    def close(self) -> None:
        if self._started and not self._over and not self._closed:
            self._closed = True
            self._answered.release()
            self._asked.acquire()

    def _work(self) -> None:
        try:
            with contextlib.suppress(_Enough):
                self._draw()
        except BaseException as error:
            self.error = error
        self._over = True
        self._asked.release()

    def _draw(self) -> None:
        from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, target
        from hypothesis import strategies as st

        from .drawing import disturbed

        starts = self._starts()
        if not any(start.everything for start in starts):
            return

        @seed(self._seed)
        @settings(
            max_examples=EXAMPLES, database=None, deadline=None, derandomize=False, print_blob=False, report_multiple_bugs=False,
            phases=(Phase.generate, Phase.target), suppress_health_check=list(HealthCheck), verbosity=Verbosity.quiet,
        )  # fmt: skip
        @given(st.sampled_from(starts).flatmap(disturbed))
        def ask(schedule: Schedule) -> None:
            if self._closed:
                raise _Enough
            if (key := repr(schedule)) in self._seen:
                return
            self._seen.add(key)
            self._proposal = schedule
            self._asked.release()
            self._answered.acquire()
            if self._closed or self._report is None:
                raise _Enough
            report, self._report = self._report, None
            target(float(len({point for _, point, _ in report.log})), label="different points passed")

        ask()

    def _starts(self) -> list[Start]:
        from .drawing import start_of

        controls = self._controls()
        found = []
        for proposal, report in controls:
            others = [seen for other, seen in controls if other.schedule.threads == proposal.schedule.threads]
            found.append(start_of(proposal.schedule, report, others))
        return found
