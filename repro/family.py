"""What holds for every row of ``expectations.toml``: each family's file collects these tests for its own rows."""

from __future__ import annotations

import importlib
from importlib.metadata import version

from harness.plugin import Hunt, Race
from repro.expectations import Expectation, TableError

#: How a row's scenario begins -> the file in which it is tested; the first that fits.
FILES = {
    "flag.gc": "test_gc",
    "gc.": "test_gc",
    "flag.": "test_nested_fx",
    "patcher.": "test_patcher",
    "config.": "test_config",
    "stance.": "test_call_scope",
    "fullgraph.": "test_call_scope",
    "isolate.": "test_call_scope",
    "lock.": "test_lock",
    "fork.": "test_fork",
    "export.": "test_export",
}


def file_of(row: Expectation) -> str:
    """Raises TableError for a row that no file tests."""
    for beginning, file in FILES.items():
        if row.scenario.startswith(beginning):
            return file
    raise TableError(f"{row.name}: no file tests its family")


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


def test_the_release_lacks_what_it_uses(lacking: Expectation) -> None:
    module, _, name = lacking.lacks.rpartition(".")
    assert not hasattr(importlib.import_module(module), name), f"{lacking.lacks} is there"


def test_absent_by_a_finished_search(race: Race, absent: Expectation) -> None:
    """A search that was cut short is no evidence of absence."""
    found = hunt(race, absent)
    assert not found.found, f"torch {version('torch')}: {absent.differs(True)}: {found.token}"
    assert found.rests_on.certain, found.rests_on.says
