"""Schedules for Hypothesis: ``@given(schedules("flag.warm"))`` draws them, :func:`must_pass` runs them.

    from hypothesis import given
    from harness.strategies import must_pass, schedules

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
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import note
from hypothesis import strategies as st

from harness.errors import UserError
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.scenario import Scenario
from harness.scenario import builtin as _builtin
from harness.schedule import Schedule, to_token
from harness.search.drawing import Start, disturbed, start_of

__all__ = ["RaceFound", "must_pass", "run", "schedules"]


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

    Nothing is loaded before the first draw, which raises UserError where the scenario has no such axis or thread count.
    """
    if mode not in ("gil", "free"):
        raise UserError(f"mode {mode!r}: gil or free")
    low, high = (threads, threads) if isinstance(threads, int) else threads or (0, 0)

    @st.composite
    def drawn(draw: st.DrawFn) -> Schedule:
        source = _source(scenario, mode == "free")
        forced = replay(source.reference)
        if forced is not None:
            return forced
        counts = source.counts(low, high)
        count = draw(st.sampled_from(counts))
        chosen = {}
        for name, values in source.axes(axes or {}).items():
            value = draw(st.sampled_from(values))
            if value != source.about["axes"][name][0]:
                chosen[name] = value
        first = draw(st.integers(0, count - 1))
        return draw(disturbed(source.start(Schedule(source.reference, count, first, mode == "free", chosen))))

    return drawn()


def run(schedule: Schedule, fix: str = "none") -> Report:
    """One run in a fresh process. A failing one is noted for Hypothesis' output, with the line that replays it."""
    report = launcher(schedule.scenario, schedule.free).run(Job(schedule, fix))
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
    return f"harness replay {to_token(schedule)}" + (f" --fix {fix}" if fix != "none" else "")


# ---------------------------------------------------------------- where schedules run

_launchers: dict[tuple[str, bool], Launcher] = {}
_sources: dict[tuple[str, bool], _Source] = {}


def _own_launcher(reference: str, free: bool) -> Launcher:
    if (reference, free) not in _launchers:
        if not _launchers:
            atexit.register(_close)
        _launchers[reference, free] = Launcher(reference, free=free, jobs=1)
    return _launchers[reference, free]


def _close() -> None:
    while _launchers:
        _launchers.popitem()[1].close()


#: Gives the forking parent of a scenario; the pytest plugin puts its session's in place.
launcher: Callable[[str, bool], Launcher] = _own_launcher
#: The schedule to be run in place of every one that is drawn (``--race-replay``), None where there is none.
replay: Callable[[str], Schedule | None] = lambda reference: None  # noqa: E731


class _Source:
    """A scenario's runs without a directive, made when first asked for. What is drawn depends on nothing else, so that
    the same choices of Hypothesis are the same schedule in another session too."""

    def __init__(self, reference: str, free: bool) -> None:
        self.reference, self.free = reference, free
        self.about = launcher(reference, free).about
        self._controls: dict[str, Report] = {}
        self._starts: dict[str, Start] = {}

    def counts(self, low: int, high: int) -> list[int]:
        fewest, most = self.about["threads"]
        low, high = low or fewest, high or most
        if not fewest <= low <= high <= most:
            raise UserError(f"threads={low} to {high}: {self.reference} makes sense with {fewest} to {most} threads")
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
            self._controls[key] = launcher(self.reference, self.free).run(Job(schedule))
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
