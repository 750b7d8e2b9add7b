"""The patcher family: what one thread's trace patches for the process is seen, and put back, by another's (pytorch #112775,
#187589, #189884), and guards that one thread has told to be skipped are skipped in all.

None of it goes with the flag: the newest release has it too, but for the guards.
"""

from __future__ import annotations

from repro.family import (  # noqa: F401 (collected here)
    test_absent_by_a_finished_search,
    test_found_within_its_budget,
    test_replays_every_time_with_one_digest,
    test_smallest_form,
    test_the_explanation_names_the_state,
    test_the_release_lacks_what_it_uses,
)
