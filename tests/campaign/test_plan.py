"""Units by number: seeds, strategies and shards depend on nothing else."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.campaign.plan import Cell, Plan, Shard
from harness.search import STRATEGIES


def plan(cells: int, strategy: str = "portfolio") -> Plan:
    made = tuple(Cell(f"{index}.py", (2,), {"x": index}, {}, "d", "") for index in range(cells))
    return Plan.make(made, free=False, fix="none", strategy=strategy, budget=9, seed=5, times=1, python="3.11.7")


def test_units_go_round() -> None:
    made = plan(3)
    units = [made.unit(number) for number in range(12)]
    assert [unit.cell.scenario for unit in units] == ["0.py", "1.py", "2.py"] * 4
    assert [unit.seed for unit in units] == [5] * 3 + [6] * 3 + [7] * 3 + [8] * 3
    assert [unit.strategy for unit in units[:3]] == ["portfolio"] * 3
    later = {unit.strategy for unit in units[3:]}
    assert later <= set(STRATEGIES)
    assert not later & {"portfolio", "exhaustive"}, "the same for every seed"
    assert {plan(2, "pct").unit(number).strategy for number in range(9)} == {"pct"}


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12))
def test_shards_are_a_partition(cells: int, count: int, seeds: int) -> None:
    made = plan(cells)
    shards = [list(made.numbers(Shard(index, count), seeds)) for index in range(1, count + 1)]
    assert sorted(number for shard in shards for number in shard) == list(range(cells * seeds))


@pytest.mark.parametrize(("cells", "count"), [(2, 2), (4, 2), (3, 3), (6, 4)])
def test_every_shard_has_its_share_of_every_scenario(cells: int, count: int) -> None:
    made = plan(cells)
    for index in range(1, count + 1):
        numbers = made.numbers(Shard(index, count), None)
        assert {made.unit(number).cell.scenario for number in islice(numbers, cells * count)} == {
            cell.scenario for cell in made.cells
        }


def test_there_and_back() -> None:
    made = plan(2)
    assert Plan.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert made.difference(made) == ""
