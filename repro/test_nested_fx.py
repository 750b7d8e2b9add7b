"""The flag family (pytorch #126024): a compiled call fails because *another* thread is tracing. And what else is known
to have ended with a release.

What is expected of which release is the table ``expectations.toml``.
"""

from __future__ import annotations

from importlib.metadata import version

import pytest

from harness.plugin import Race
from repro.expectations import at, read
from repro.family import (  # noqa: F401 (collected here)
    test_absent_by_a_finished_search,
    test_found_within_its_budget,
    test_replays_every_time_with_one_digest,
    test_smallest_form,
    test_the_explanation_names_the_state,
    test_the_release_lacks_what_it_uses,
)

#: What each fix comes to on flag.warm where the release has the race; where not, there is nothing to judge one on.
VERDICTS = {"none": "fails", "call_lock": "fails", "function_patch": "holds", "per_process": "holds"}


@pytest.mark.parametrize("fix", VERDICTS)
def test_verdict(race: Race, fix: str) -> None:
    row = next(row for row in at(version("torch"), read()) if row.name == "flag.warm")
    verdict = race.check("flag.warm", fix, budget=1000)[fix]
    expected = VERDICTS[fix] if row.found else "untested"
    assert verdict.verdict == expected, f"{verdict.why}; rests on: {verdict.rests_on}"
