"""Schedules for Hypothesis: ``@given(schedules("flag.warm"))`` draws them, :func:`must_pass` runs them.

    from hypothesis import given
    from harness.strategies import must_pass, schedules, unhurried

    @unhurried
    @given(schedules("flag.warm"))
    def test_warm_calls(schedule):
        must_pass(schedule)

Thread count, the values of the scenario's axes, who starts, up to three directives and the collections among them are
drawn; Hypothesis' database replays what failed before anything else, and its shrinker makes it small. A failing test
prints the line that replays it: ``harness replay race1,…``.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping
from typing import Any, Protocol

from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st

from harness.errors import UserError
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.scenario import Scenario
from harness.scenario import builtin as _builtin
from harness.scenario.threads import in_words
from harness.schedule import Schedule, to_token
from harness.search.drawing import Start, disturbed, start_of

__all__ = ["RaceFound", "must_pass", "run", "schedules", "unhurried"]

#: Settings without Hypothesis' limits of time: a run takes longer than a call of a function. A parent for others:
#: ``@settings(unhurried, max_examples=300)``.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


class RaceFound(AssertionError):
    """A schedule failed. Each signature has a subclass of its own, so that shrinking keeps to one failure."""


def schedules(
    scenario: str | Scenario,
    *,
    threads: int | tuple[int, int] | None = None,
    axes: Mapping[str, Any] | None = None,
    mode: str = "gil",
) -> st.SearchStrategy[Schedule]:
    """Schedules of a scenario (a reference as on the command line, or the object at the top level of a module).

    threads  how many, or (fewest, most); default: what the scenario says
    axes     axes held at one value; the others are drawn
    mode     ``gil`` or ``free``

    Nothing is loaded before the test runs; UserError is raised then where the scenario has no such axis or thread count.
    """
    if mode not in ("gil", "free"):
        raise UserError(f"mode {mode!r}: gil or free")
    low, high = (threads, threads) if isinstance(threads, int) else threads or (0, 0)

    def loaded() -> st.SearchStrategy[Schedule]:
        source = _source(scenario, mode == "free")
        return _drawn(source, source.counts(low, high), source.axes(axes or {}))

    return st.deferred(loaded)


@st.composite
def _drawn(draw: st.DrawFn, source: _Source, counts: list[int], axes: dict[str, list[Any]]) -> Schedule:
    forced = place.replay(source.reference)
    if forced is not None:
        return forced
    count = draw(st.sampled_from(counts))
    chosen = {}
    for name, values in axes.items():
        value = draw(st.sampled_from(values))
        if value != source.about["axes"][name][0]:
            chosen[name] = value
    first = draw(st.integers(0, count - 1))
    return draw(disturbed(source.start(Schedule(source.reference, count, first, source.free, chosen))))


def run(schedule: Schedule, fix: str = "none") -> Report:
    """One run in a fresh process. A failing one is noted for Hypothesis' output, with the line that replays it."""
    report = place.launcher(schedule.scenario, schedule.free).run(Job(schedule, fix))
    if report.failed:
        note(_line(schedule, fix))
    return report


def must_pass(schedule: Schedule, fix: str = "none") -> None:
    """Run, and raise :class:`RaceFound` with outcome and replay line where it fails."""
    report = run(schedule, fix)
    if report.failed:
        kind = _KINDS.setdefault(report.signature, type("RaceFound", (RaceFound,), {"__module__": __name__}))
        raise kind(f"{report.outcome}: {report.message or report.signature}\n{_line(schedule, fix)}")


_KINDS: dict[str, type[RaceFound]] = {}


def _line(schedule: Schedule, fix: str) -> str:
    fix = place.fix or fix
    return f"harness replay {to_token(schedule)}" + (f" --fix {fix}" if fix != "none" else "")


# ---------------------------------------------------------------- where schedules run


class Place(Protocol):
    """launcher  the forking parent of a scenario
    replay    the schedule to run in place of every one that is drawn, None where there is none
    fix       in force whatever is asked for
    """

    fix: str | None

    def launcher(self, reference: str, free: bool) -> Launcher: ...

    def replay(self, reference: str) -> Schedule | None: ...


class _Own:
    """Forking parents that end with this process."""

    fix: str | None = None

    def __init__(self) -> None:
        self._launchers: dict[tuple[str, bool], Launcher] = {}

    def launcher(self, reference: str, free: bool) -> Launcher:
        if (reference, free) not in self._launchers:
            if not self._launchers:
                atexit.register(self.close)
            self._launchers[reference, free] = Launcher(reference, free=free, jobs=1)
        return self._launchers[reference, free]

    def replay(self, reference: str) -> Schedule | None:
        return None

    def close(self) -> None:
        while self._launchers:
            self._launchers.popitem()[1].close()


place: Place = _Own()
_sources: dict[tuple[str, bool], _Source] = {}


def use(other: Place | None) -> None:
    """Run schedules elsewhere from now on; None: in forking parents of our own. For the pytest plugin."""
    global place
    place = other or _Own()
    _sources.clear()


class _Source:
    """A scenario's runs without a directive, made when first asked for. What is drawn depends on nothing else, so that
    the same choices of Hypothesis are the same schedule in another session too."""

    def __init__(self, reference: str, free: bool) -> None:
        self.reference, self.free = reference, free
        self.about = place.launcher(reference, free).about
        self._controls: dict[str, Report] = {}
        self._starts: dict[str, Start] = {}

    def counts(self, low: int, high: int) -> list[int]:
        fewest, most = self.about["threads"]
        low, high = low or fewest, high or most
        if not fewest <= low <= high <= most:
            raise UserError(f"threads={low} to {high}: {self.reference} makes sense with {in_words(fewest, most)}")
        return list(range(low, high + 1))

    def axes(self, held: Mapping[str, Any]) -> dict[str, list[Any]]:
        declared: dict[str, list[Any]] = self.about["axes"]
        for name, value in held.items():
            if value not in declared.get(name, []):
                raise UserError(f"{self.reference} has no {name}={value!r}")
        return {name: [held[name]] if name in held else values for name, values in declared.items()}

    def start(self, schedule: Schedule) -> Start:
        key = to_token(schedule)
        if key not in self._starts:
            zero = Schedule(schedule.scenario, schedule.threads, 0, schedule.free, schedule.axes)
            self._starts[key] = start_of(schedule, self._control(schedule), [self._control(zero)])
        return self._starts[key]

    def _control(self, schedule: Schedule) -> Report:
        key = to_token(schedule)
        if key not in self._controls:
            self._controls[key] = place.launcher(self.reference, self.free).run(Job(schedule))
        return self._controls[key]


def _source(scenario: str | Scenario, free: bool) -> _Source:
    reference = scenario if isinstance(scenario, str) else _reference(scenario)
    if (reference, free) not in _sources:
        _sources[reference, free] = _Source(reference, free)
    return _sources[reference, free]


def _reference(scenario: Scenario) -> str:
    """By which a fresh process finds the same object: built-in name, or file and name. Raises UserError."""
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is not scenario:
                continue
            if module.__name__.startswith(_builtin.__name__ + "."):
                return module.__name__.rpartition(".")[2].replace("_", ".", 1)
            if module.__name__.partition(".")[0] == "harness":
                continue
            path = getattr(module, "__file__", None)
            if path is not None:
                near = os.path.relpath(path)
                return f"{path if near.startswith('..') else near}:{name}"
    raise UserError("a scenario object must stand at the top level of a module, so that a fresh process finds it")
