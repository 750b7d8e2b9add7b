"""What is set for the time of one call or region, and holds for the process: the stance (pytorch #195355), the count of a
``fullgraph`` call (#185138), the number of a region with caches of its own (#196637)."""

from __future__ import annotations

from repro.family import (  # noqa: F401 (collected here)
    test_absent_by_a_finished_search,
    test_found_within_its_budget,
    test_replays_every_time_with_one_digest,
    test_smallest_form,
    test_the_explanation_names_the_state,
    test_the_release_lacks_what_it_uses,
)
