"""Shards put together are the campaign that was not divided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.campaigns import SIZE, finished, scenarios

from harness.campaign.merge import merge
from harness.campaign.plan import Cell, Plan
from harness.campaign.store import Store
from harness.cli.main import main


def test_two_shards_are_one_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*scenarios(tmp_path), *SIZE]
    paths = {name: str(tmp_path / f"{name}.db") for name in ("whole", "1", "2", "both")}
    assert finished([*arguments, "--store", paths["whole"], "--jobs", "3"])[0] == 1
    for index in ("1", "2"):
        status, _, err = finished([*arguments, "--store", paths[index], "--shard", f"{index}/2"])
        assert status == 1, err
    whole, one, two = (merge([Path(paths[name])]) for name in ("whole", "1", "2"))
    assert one.units
    assert two.units
    assert not one.units.keys() & two.units.keys()

    assert main(["merge", paths["1"], paths["2"], "-o", paths["both"], "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    both = merge([Path(paths["both"])])
    assert both.units == whole.units
    assert both.failures == whole.failures

    assert main(["merge", paths["whole"], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    del said["seconds"], told["seconds"]
    assert said == told
    assert said["units"] == 6
    assert [item["outcome"] for item in said["failures"]].count("wrong value") == 2
    assert [Path(item["scenario"]).name for item in said["negatives"]] == ["safe.py:scenario"]
    assert said["pairs"]["met"] > 0
    for item in said["failures"]:
        assert item["schedules"] > 0
        assert item["replay"] == {"times": 2, "same": 2}
        assert main(["replay", item["token"]]) == 1
        assert main(["replay", item["original_token"]]) == 1

    status, _, err = finished([*arguments, "--store", paths["both"]])  # nothing is left to do
    assert status == 1, err
    assert merge([Path(paths["both"])]).same(whole)


CELLS = (Cell("a.py", (2,), {}, {}, "d1", ""), Cell("b.py", (2,), {}, {}, "d2", ""))
PLAN = Plan.make(CELLS, free=False, fix="none", strategy="portfolio", budget=40, seed=0, times=2, python="3.11.7")


def unit(schedules: int) -> dict[str, Any]:
    return {"schedules": schedules, "failing": [], "pairs": {}, "certain": False, "rests_on": ""}


def made(path: Path, *numbers: int, failing: int | None = None, reduced: bool = False, plan: Plan = PLAN) -> Path:
    with Store(path, plan) as store:
        for number in numbers:
            store.add_unit(number, unit(number), 1.0)
        if failing is not None:
            failure = {"minimal": {"directives": []} if reduced else None, "minimal_signature": "E"}
            store.add_failure((failing, "error", "E"), failure)
    return path


def test_the_order_and_a_store_twice_make_no_difference(tmp_path: Path) -> None:
    one = made(tmp_path / "1.db", 0, 3, failing=4)
    two = made(tmp_path / "2.db", 1, 3, 4, failing=4, reduced=True)
    merged = merge([one, two])
    assert list(merged.units) == [0, 3, 1, 4]
    assert [failure["minimal"] is not None for failure in merged.failures.values()] == [True]
    assert merged.same(merge([two, one, two, one]))


def refused(capsys: pytest.CaptureFixture[str], word: str, *arguments: str | Path) -> None:
    assert main(["merge", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert word in err


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = made(tmp_path / "1.db", 0), made(tmp_path / "2.db", 1)
    before = one.read_bytes()
    refused(capsys, "is there already", two, "-o", one)
    assert one.read_bytes() == before


def test_other_campaigns_and_contradictions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = made(tmp_path / "1.db", 0)
    other = Plan.make(CELLS[:1], free=False, fix="none", strategy="portfolio", budget=40, seed=0, times=2, python="3.11.7")
    refused(capsys, "another campaign", one, made(tmp_path / "2.db", 0, plan=other), "-o", tmp_path / "new.db")
    with Store(tmp_path / "3.db", PLAN) as store:
        store.add_unit(0, unit(99), 1.0)
    refused(capsys, "not deterministic", one, tmp_path / "3.db", "-o", tmp_path / "new.db")
    refused(capsys, "no store", one, tmp_path / "none.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.db", "2.db", "3.db"]
