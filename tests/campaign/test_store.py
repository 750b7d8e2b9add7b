"""The store: what cannot be used is refused in one line and left as it is."""

from __future__ import annotations

import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.campaigns import environment

from harness.campaign.plan import Cell, Plan
from harness.campaign.store import Content, Store
from harness.errors import UserError

CELLS = (Cell("a.py", (2, 3), {}, {"y": [1, 2]}, "d1", ""), Cell("b.py", (3,), {"x": 1}, {}, "d2", "2.13.0"))


def plan(**changes: Any) -> Plan:
    made = Plan.make(CELLS, free=False, fix="none", strategy="portfolio", budget=40, seed=0, times=2, python="3.11.7")
    return replace(made, **changes)


def failure(minimal: Any = None, message: str = "m") -> dict[str, Any]:
    return {"message": message, "minimal": minimal, "text": "é\0\ud800" + "x" * 50}


def filled(path: Path, units: int = 30) -> Content:
    with Store(path, plan()) as store:
        for number in range(units):
            store.add_failure((number, "error", f"E{number}"), failure())
            store.add_failure((number, "error", f"E{number}"), failure({"directives": [number]}))
            store.add_unit(number, {"schedules": number, "rests_on": "x" * 100}, number / 7)
        return store.content


def refused(action: Callable[[], Any], *words: str) -> None:
    with pytest.raises(UserError) as caught:
        action()
    for word in words:
        assert word in str(caught.value)


def read(path: Path) -> Content:
    with Store(path) as store:
        return store.content


def test_what_is_added_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    content = filled(path)
    again = read(path)
    assert again == content
    assert len(again.units) == len(again.failures) == 30
    assert again.failures[3, "error", "E3"]["minimal"] == {"directives": [3]}
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.db"], "one file, to be copied as it is"


def test_what_is_kept_stays(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db", plan()) as store:
        key = (0, "error", "E")
        store.add_failure(key, failure({"directives": []}, "first"))
        store.add_failure(key, failure(None, "second"))
        store.add_failure(key, failure({"directives": [1]}, "third"))
        store.add_unit(0, {"schedules": 1}, 1.0)
        store.add_unit(0, {"schedules": 2}, 1.0)
    content = read(tmp_path / "s.db")
    assert content.failures[key]["message"] == "first"
    assert content.units == {0: {"schedules": 1}}


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"cells": (replace(CELLS[0], digest="other"), CELLS[1])}, "a.py: digest"),
        ({"cells": (CELLS[0], replace(CELLS[1], torch="2.14.1"))}, "b.py: torch"),
        ({"cells": CELLS[:1]}, "2 scenarios"),
        ({"budget": 41}, "budget"),
        ({"seed": 1}, "seed"),
        ({"python": "3.99.0"}, "python"),
        ({"engine": "0"}, "source"),
        ({"fix": "call_lock"}, "fix"),
        ({"free": True}, "mode"),
    ],
)
def test_a_store_of_another_campaign(tmp_path: Path, changes: dict[str, Any], word: str) -> None:
    path = tmp_path / "s.db"
    filled(path, 2)
    before = path.read_bytes()
    refused(lambda: Store(path, plan(**changes)), "another campaign", word, "s.db")
    assert path.read_bytes() == before


def test_a_store_of_another_format(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    filled(path, 2)
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 2")
    other.close()
    before = path.read_bytes()
    for given in (plan(), None):
        refused(lambda given=given: Store(path, given), "format 2; this version reads 1")
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"x", b"{}\n" * 4000, b"SQLite format 3\0" + b"\0" * 5000])
def test_another_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(content)
    for given in (plan(), None):
        refused(lambda given=given: Store(path, given), "not a store")
    assert path.read_bytes() == content


def test_another_database(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE plan (body TEXT)")
    other.close()
    refused(lambda: Store(path, plan()), "not a store")


def test_places(tmp_path: Path) -> None:
    refused(lambda: Store(tmp_path / "none.db"), "no store")
    (tmp_path / "file").write_text("")
    refused(lambda: Store(tmp_path / "file" / "s.db", plan()), "file")
    with Store(tmp_path / "new" / "folder", plan()) as store:
        assert store.path == tmp_path / "new" / "folder" / "campaign.db"
    assert read(tmp_path / "new" / "folder").plan == plan()
    with Store(tmp_path / "what?a#name%20.db", plan()):
        pass
    assert (tmp_path / "what?a#name%20.db").exists()


def test_no_changed_byte_goes_unseen(tmp_path: Path) -> None:
    """Wherever a byte changes, the store says so or says the same as before."""
    path, spoiled = tmp_path / "s.db", tmp_path / "spoiled.db"
    content = filled(path, 12)
    data, random = path.read_bytes(), Random(0)
    seen = 0
    places = [*range(100), *random.sample(range(100, len(data)), 300)]
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1 << random.randrange(8)
        spoiled.write_bytes(changed)
        try:
            assert read(spoiled) == content, place
        except UserError as error:
            seen += 1
            assert "\n" not in str(error)
        assert spoiled.read_bytes() == changed, "what cannot be read is left as it is"
    assert seen > len(places) // 5


@pytest.mark.parametrize("length", [0.1, 0.5, 0.9])
def test_a_store_cut_short(tmp_path: Path, length: float) -> None:
    path = tmp_path / "s.db"
    filled(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * length)])
    refused(lambda: Store(path, plan()), "s.db")


def test_two_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store(path, plan()) as store:
        for given in (plan(), None):
            refused(lambda given=given: Store(path, given), "in use by another process")
        code = f"from pathlib import Path\nfrom harness.campaign.store import Store\nStore(Path({str(path)!r}))"
        other = subprocess.run(
            [sys.executable, "-c", code], env=environment(), capture_output=True, text=True
        )
        assert other.returncode == 1
        assert "in use by another process" in other.stderr
        store.add_unit(0, {"schedules": 1}, 1.0)
    assert len(read(path).units) == 1


def fill(store: Store) -> None:
    for number in range(100):
        store.add_unit(number, {"text": "x" * 1000}, 1.0)


def test_no_room(tmp_path: Path) -> None:
    """SQLite is told that the file cannot grow, which it treats as a full disk."""
    path = tmp_path / "s.db"
    with Store(path, plan()) as store:
        store._run("PRAGMA max_page_count = 12")
        with pytest.raises(UserError, match="make room") as caught:
            fill(store)
        assert "\n" not in str(caught.value)
        kept = dict(store.content.units)
        assert kept
    number = len(kept)
    assert read(path).units == kept
    with Store(path, plan()) as store:
        store.add_unit(number, {"text": "x" * 1000}, 1.0)
    assert number in read(path).units


def _no_larger() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    code = f"""
from pathlib import Path
from campaign_store import Store, plan
with Store(Path({str(path)!r}), plan()) as store:
    for number in range(100):
        store.add_unit(number, {{"text": "x" * 1000}}, 1.0)
        print(number, flush=True)
"""
    shutil.copy(__file__, tmp_path / "campaign_store.py")
    where = {**environment(), "PYTHONPATH": f"{environment()['PYTHONPATH']}:{tmp_path}:{Path(__file__).parents[1]}"}
    process = subprocess.run(
        [sys.executable, "-c", code], env=where, preexec_fn=_no_larger, capture_output=True, text=True
    )
    assert process.returncode == 1
    assert "make room" in process.stderr
    told = [int(line) for line in process.stdout.split()]
    assert told
    assert list(read(path).units) == told
