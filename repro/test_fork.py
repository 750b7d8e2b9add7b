"""Dynamo's lock, taken while another thread forks (pytorch #108586)."""

from __future__ import annotations

from dataclasses import replace

from harness.plugin import Race
from harness.schedule import from_token, to_token
from repro.family import (  # noqa: F401 (collected here)
    test_absent_by_a_finished_search,
    test_found_within_its_budget,
    test_replays_every_time_with_one_digest,
    test_smallest_form,
    test_the_explanation_names_the_state,
    test_the_release_lacks_what_it_uses,
)


def test_the_lock_held_over_the_fork_repairs_it(race: Race) -> None:
    """The schedule that fails, with the one difference that the thread that forks takes Dynamo's lock first."""
    found = race.find("fork.under_lock", axes={"lock": "free"}, budget=100)
    assert found.found, found.rests_on.says
    assert "held by T0, which does not exist there, taken at " in race.explain(found.token).text
    schedule = from_token(found.token)
    repaired = replace(schedule, axes={**schedule.axes, "lock": "held"})
    assert race.replay(to_token(repaired), times=3).failed == 0
