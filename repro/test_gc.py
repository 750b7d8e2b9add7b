"""Failures by the time of a collection alone: flag.gc (the story of pytorch #126024 with one thread), gc.globals
(pytorch #190612), gc.finalizer_in_window and gc.generator_in_window (pytorch #96488).

The rows of ``expectations.toml`` are searched with the collection drawn, reduced and replayed. Beside that: the collection
is what they need, and the report says what it ran.
"""

from __future__ import annotations

from importlib.metadata import version

import pytest

from harness.garbage import KINDS
from harness.plugin import Hunt, Race
from repro.expectations import Expectation, at, read
from repro.family import (  # noqa: F401 (collected here)
    test_absent_by_a_finished_search,
    test_found_within_its_budget,
    test_replays_every_time_with_one_digest,
    test_smallest_form,
    test_the_explanation_names_the_state,
    test_the_release_lacks_what_it_uses,
)

#: What the collection runs, and what that calls.
RUNS = {
    "flag.gc": ("finalizer harness.garbage.finalizer.Finalized.__del__", "flag_gc.Shared.last_call"),
    "gc.finalizer_in_window": ("finalizer harness.garbage.finalizer.Finalized.__del__", "CatchErrorsWrapper.__call__"),
    "gc.globals": ("weakref callback torch._dynamo.utils.ExactWeakKeyDictionary", "CleanupManager._remove_id"),
}


def row_of(scenario: str) -> Expectation:
    """The first, where there is one for each value of an axis."""
    return next(row for row in at(version("torch"), read()) if row.scenario == scenario)


#: Those that this release has; that it lacks the others is what ``test_absent_by_a_finished_search`` shows.
HERE = [scenario for scenario in RUNS if row_of(scenario).found]


def found(race: Race, scenario: str, **axes: object) -> tuple[Hunt, Expectation]:
    row = row_of(scenario)
    hunt = race.find(scenario, axes={**row.axes, **axes}, matching=row.pattern, budget=row.budget)
    assert hunt.found, hunt.rests_on.says
    return hunt, row


@pytest.mark.parametrize("scenario", HERE)
def test_it_passes_without_the_collection(race: Race, scenario: str) -> None:
    hunt, _ = found(race, scenario)
    explained = race.explain(hunt.token)
    assert explained.depends_on_gc, explained.text


@pytest.mark.parametrize("scenario", HERE)
def test_the_report_names_what_the_collection_ran(race: Race, scenario: str) -> None:
    hunt, _ = found(race, scenario)
    text = race.explain(hunt.token).text
    assert all(name in text for name in RUNS[scenario]), text


@pytest.mark.parametrize("kind", KINDS[1:])
def test_garbage_of_any_kind_does_it(race: Race, kind: str) -> None:
    hunt, _ = found(race, "flag.gc", garbage=kind)
    assert hunt.directives == 1, hunt.token


def test_a_second_thread_changes_nothing(race: Race) -> None:
    row = row_of("flag.gc")
    hunt = race.find("flag.gc", threads=2, matching=row.pattern, budget=row.budget)
    assert hunt.found, hunt.rests_on.says
    assert race.explain(hunt.token).depends_on_gc


def test_the_function_patch_does_not_help(race: Race) -> None:
    """The thread that calls is the one that traces."""
    verdict = race.check("flag.gc", "function_patch", budget=200)["function_patch"]
    assert verdict.verdict == "fails", f"{verdict.why}; rests on: {verdict.rests_on}"


def test_a_process_for_each_body_does_not_help(race: Race) -> None:
    """Nor is what Python only reports lost there."""
    verdict = race.check("flag.gc", "per_process", budget=200)["per_process"]
    assert verdict.verdict == "fails", f"{verdict.why}; rests on: {verdict.rests_on}"
