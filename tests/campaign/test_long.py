"""10,000 schedules: no hang, no process left, no memory that grows."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import pytest
from support.campaigns import scenarios, start
from support.programs import children_of, processes_of

from harness.campaign.merge import merge

_GROWTH = 8.0  # MiB that the last quarter may lie above the second; between them a leak of 1 KiB a schedule would show


def _tree(pid: int) -> dict[str, list[int]]:
    """The processes that stay: client, workers, forking parents. Runs come and go."""
    workers = children_of(pid)
    return {"client": [pid], "workers": workers, "parents": [child for w in workers for child in children_of(w)]}


def _resident(pids: list[int]) -> float:
    """MiB of the largest."""
    pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids]
    return max(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.slow
def test_ten_thousand_schedules(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    arguments = [*scenarios(tmp_path), "--budget", "100", "--seeds", "55", "--times", "1", "--jobs", "2"]
    process = start([*arguments, "--store", str(store)], stderr=None)
    seen: list[dict[str, float]] = []
    while process.poll() is None:
        time.sleep(1)  # between looks at its memory; decides nothing
        try:
            seen.append({role: _resident(pids) for role, pids in _tree(process.pid).items() if pids})
        except (OSError, ValueError):  # one has just ended
            continue
    assert process.wait() == 1
    assert processes_of(str(tmp_path)) == []
    content = merge([store])
    schedules = sum(unit["schedules"] for unit in content.units.values())
    assert len(content.units) == 165
    assert schedules >= 10_000
    outcomes = {outcome for unit in content.units.values() for outcome, _, _ in unit["failing"]}
    assert outcomes == {"wrong value", "error"}, "neither hangs nor crashes"
    assert len(seen) >= 20, "memory was looked at too seldom to say anything"
    quarter = len(seen) // 4
    for role in ("client", "workers", "parents"):
        early, late = (
            statistics.median(sample[role] for sample in part if role in sample)
            for part in (seen[quarter : 2 * quarter], seen[3 * quarter :])
        )
        print(f"{role}: {early:.1f} MiB early, {late:.1f} MiB late, {schedules} schedules, {len(seen)} samples")
        assert late - early < _GROWTH
