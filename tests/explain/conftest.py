from __future__ import annotations

import pytest
from support.failing import LOCKED, LOST, SAVED, WARM, launcher

from harness.explain import Story, nearest_pass, tell
from harness.schedule import Schedule
from harness.verdict.why import cause_of


def told(schedule: Schedule) -> Story:
    with launcher(schedule) as runner:
        report, cause = cause_of(runner, schedule)
        other = nearest_pass(runner, schedule, report, cause)
        about = {"torch": runner.about["torch"], "Python": runner.about["python"], "platform": "Linux-x"}
    return tell(schedule, report, cause, environment=about, counterfactual=other)


@pytest.fixture(scope="session")
def saved() -> Story:
    """A state saved and restored by two threads: the cause is a read of another's write."""
    return told(SAVED)


@pytest.fixture(scope="session")
def lost() -> Story:
    """No process-wide state is involved."""
    return told(LOST)


@pytest.fixture(scope="session")
def locked() -> Story:
    return told(LOCKED)


@pytest.fixture(scope="session")
def warm() -> Story:
    """The story: a trace in one thread, a warm compiled call in another."""
    return told(WARM)
