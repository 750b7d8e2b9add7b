"""Who goes on where a thread waits or ends, and several could, is searched too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.inline import Inline, cooperative
from support.programs import write

from harness.run.launch import Launcher
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.search import explore
from harness.search.certify import negative

from .test_strategies import InProcess


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> Iterator[Inline]:
    with cooperative(monkeypatch) as made:
        yield made


def test_every_order_of_bodies_without_points(inline: Inline) -> None:
    """Three bodies, six orders: each of three goes first, then each of the other two, by a choice at its end."""
    orders = set()

    def body(index: int) -> object:
        return lambda shared: shared.append(index)

    def check(shared: list[int], results: list[object]) -> None:
        orders.add(tuple(shared))

    made = Scenario([body(0), body(1), body(2)], setup=lambda axes: [], check=check, threads=(3, 3))
    found = explore(InProcess(inline, made), Schedule("inline", 3), budget=200, strategy="exhaustive")
    assert len(orders) == 6
    assert found.schedules == 6
    assert found.choices
    assert found.limit == ""


def test_two_threads_have_no_choice(inline: Inline) -> None:
    made = Scenario([lambda shared: 1, lambda shared: 2])
    assert not explore(InProcess(inline, made), Schedule("inline", 2), budget=200).choices


#: Both jobs add to a state that is known. The second job is given away, and its thread starts, only once the loop goes on while
#: the first job's thread is stopped; then the loop waits, and both could go on.
JOBS = """
import asyncio

class Account:
    balance = 0

def plus(n):
    return n + 10

def deposit(account):
    {how}

async def main(account):
    await asyncio.gather(asyncio.to_thread(deposit, account), asyncio.to_thread(deposit, account))

def body(account):
    asyncio.run(main(account))

def check(account, results):
    assert account.balance == 20, account.balance

scenario = Scenario(bodies=[body], setup=lambda axes: Account(), check=check, threads=(1, 1))
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_lost_update_of_a_known_state_between_jobs_of_an_event_loop(tmp_path: Path, seed: int) -> None:
    reference = write(tmp_path, JOBS.format(how="seen = account.balance\n    account.balance = plus(seen)"), "jobs")
    with Launcher(reference) as launcher:
        found = explore(launcher, Schedule(reference, 1), budget=300, seed=seed)
        assert found.failures, negative(found).says
    report = found.failures[0][1]
    assert report.outcome == "wrong value"
    assert found.choices
    assert found.started


def test_threads_that_a_body_starts_count_in_the_bound_of_pct(tmp_path: Path) -> None:
    reference = write(tmp_path, STARTED, "started")
    with Launcher(reference, jobs=1) as launcher:
        found = explore(launcher, Schedule(reference, 1), budget=60, strategy="pct")
        assert found.chance is not None
        assert found.chance.threads == 4
        assert found.chance.miss == pytest.approx((1 - 1 / (4 * found.chance.steps)) ** found.chance.runs)


STARTED = """
class Count:
    n = 0

def add(count):
    count.n = abs(count.n) + 1

def body(count):
    threads = [threading.Thread(target=add, args=(count,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

scenario = Scenario([body], setup=lambda axes: Count(), threads=(1, 1))
"""
