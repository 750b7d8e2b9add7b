"""A race on what no state shows, among the locks of an event loop and an executor: found within some tens of schedules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.programs import write

from harness.run.launch import Launcher
from harness.schedule import Schedule
from harness.search import explore

#: Jobs of ``asyncio.to_thread``; the second thread is started only while the first has work.
LOST = """
import asyncio
def successor(value):
    return value + 1
def add(counts):
    counts["n"] = successor(counts["n"])
def body(counts):
    async def main():
        await asyncio.gather(asyncio.to_thread(add, counts), asyncio.to_thread(add, counts))
    asyncio.run(main())
def check(counts, results):
    assert counts["n"] == 2, "lost"
scenario = Scenario([body], setup=lambda axes: {"n": 0}, check=check, threads=(1, 1))
"""


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    with Launcher(write(tmp_path_factory.mktemp("own"), LOST), jobs=1) as made:
        yield made


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_a_lost_update_between_jobs(launcher: Launcher, seed: int) -> None:
    found = explore(launcher, Schedule(launcher.reference, 1), budget=100, seed=seed)
    assert found.failures, f"not within {found.schedules} schedules: {found.by_strategy}"
    assert found.by_strategy["pct2, own places"]


def test_where_states_are_known_their_points_are_drawn(tmp_path: Path) -> None:
    source = """
    class Shared:
        value = 0
    def add(shared):
        shared.value = abs(shared.value) + 1
    scenario = Scenario([add, add], setup=lambda axes: Shared(), threads=(2, 2), sequential=False)
    """
    with Launcher(write(tmp_path, source), jobs=1) as quiet:
        found = explore(quiet, Schedule(quiet.reference, 2), budget=30)
    assert not found.failures
    assert found.knowledge.states()
    assert "pct2, own places" not in found.by_strategy
