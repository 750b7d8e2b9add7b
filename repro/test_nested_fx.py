"""The flag family (pytorch #126024): a compiled call fails because *another* thread is tracing. And what else is known
to have ended with a release.

What is expected of which release is the table ``expectations.toml``.
"""

from __future__ import annotations

from importlib.metadata import version

import pytest

from harness.plugin import Hunt, Race
from repro.expectations import Expectation, at, read


def hunt(race: Race, row: Expectation) -> Hunt:
    return race.find(row.scenario, axes=row.axes, matching=row.pattern, budget=row.budget)


def test_found_within_its_budget(race: Race, present: Expectation) -> None:
    found = hunt(race, present)
    assert found.found, f"torch {version('torch')}: {present.differs(False)}: {found.rests_on.says}"


def test_smallest_form(race: Race, present: Expectation) -> None:
    found = hunt(race, present)
    assert found.found, found.rests_on.says
    assert not present.differs(True, found.directives), f"{present.differs(True, found.directives)}: {found.token}"


def test_replays_every_time_with_one_digest(race: Race, present: Expectation) -> None:
    found = hunt(race, present)
    assert found.found, found.rests_on.says
    again = race.replay(found.token, times=10)
    assert (again.failed, again.same, again.signature) == (10, 10, found.signature)


def test_the_explanation_names_the_state(race: Race, seen: Expectation) -> None:
    found = hunt(race, seen)
    assert found.found, found.rests_on.says
    explained = race.explain(found.token)
    assert not seen.differs(True, found.directives, explained.state), explained.text


def test_absent_by_a_finished_search(race: Race, absent: Expectation) -> None:
    """A search that was cut short is no evidence of absence."""
    found = hunt(race, absent)
    assert not found.found, f"torch {version('torch')}: {absent.differs(True)}: {found.token}"
    assert found.rests_on.certain, found.rests_on.says


#: What each fix comes to on flag.warm where the release has the race; where not, there is nothing to judge one on.
VERDICTS = {"none": "fails", "call_lock": "fails", "function_patch": "holds", "per_process": "holds"}


@pytest.mark.parametrize("fix", VERDICTS)
def test_verdict(race: Race, fix: str) -> None:
    row = next(row for row in at(version("torch"), read()) if row.name == "flag.warm")
    verdict = race.check("flag.warm", fix, budget=1000)[fix]
    expected = VERDICTS[fix] if row.found else "untested"
    assert verdict.verdict == expected, f"{verdict.why}; rests on: {verdict.rests_on}"
