"""The pytest plugin: the fixture ``race``, the marker of that name and the options ``--race-…``.

    def test_trace_and_call(race):
        hunt = race.find("flag.warm")
        assert not hunt.found

A failing test shows the line that replays what it found. One forking parent a scenario serves a
whole session (each worker of xdist has its own). The same question asked twice in a session is answered from
the first time, since the same seed is the same search.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

import pytest

from harness.cli.options import count

from .race import Race
from .session import Session

_MARKER = frozenset({"budget", "fix", "seed"})
_SESSION = pytest.StashKey[Session]()
_ELSEWHERE = pytest.StashKey[int]()
_RACE = pytest.StashKey[Race]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("race", "schedules of threads")
    group.addoption("--race-replay", metavar="TOKEN", help="run this schedule in place of every search")
    group.addoption("--race-budget", type=count, metavar="N", help="schedules at most, whatever a test says")
    group.addoption("--race-fix", metavar="F", help="force a fix on every run of the session")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "race(budget=, fix=, seed=): defaults of the fixture race for one test"
    )
    config.stash[_SESSION] = Session(config)
    config.stash[_ELSEWHERE] = 0


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tests that draw schedules (:mod:`harness.strategies`) share the session's forking parents and options."""
    strategies = sys.modules.get("harness.strategies")
    if strategies is not None:
        strategies.use(session.config.stash[_SESSION])


def pytest_unconfigure(config: pytest.Config) -> None:
    strategies = sys.modules.get("harness.strategies")
    if strategies is not None:
        strategies.use(None)
    session = config.stash.get(_SESSION, None)
    if session is not None:
        session.close()


@pytest.fixture
def race(request: pytest.FixtureRequest) -> Race:
    """Searches, replays and judges schedules of threads."""
    marker = request.node.get_closest_marker("race")
    says = dict(marker.kwargs) if marker is not None else {}
    if marker is not None and (marker.args or not says.keys() <= _MARKER):
        pytest.fail(f"race: the marker takes {', '.join(sorted(_MARKER))}, each by name", pytrace=False)
    made = Race(request.config.stash[_SESSION], **says)
    request.node.stash[_RACE] = made
    return made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    made = item.stash.get(_RACE, None)
    if report.failed and made is not None and made.lines:
        report.sections.append(("race", "\n".join(made.lines)))
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[_ELSEWHERE] += getattr(node, "workeroutput", {}).get("race_replayed", 0)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """A schedule that no test asked for was not replayed: that is no success."""
    yield
    ours = session.config.stash[_SESSION]
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["race_replayed"] = ours.replayed
    elif _unheard(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def _unheard(config: pytest.Config) -> bool:
    ours = config.stash[_SESSION]
    return ours.schedule is not None and not (ours.replayed + config.stash[_ELSEWHERE])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    ours = config.stash[_SESSION]
    if ours.schedule is not None and _unheard(config) and not config.getoption("collectonly"):
        missed = f"ERROR: --race-replay: no test searches {ours.schedule.scenario}"
        terminalreporter.write_line(missed, red=True)
