"""`fix = "auto"` is what was found to hold, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dflash.errors import UserError
from dflash.pipeline.judged import held


def verdicts(folder: Path, release: str, *cases: dict[str, str]) -> None:
    found = [{"control": {"failing": 3}, "rows": [{"fix": fix, "verdict": says, "schedules": 10} for fix, says in case.items()]} for case in cases]
    (folder / f"{release}.json").write_text(json.dumps(found))


@pytest.mark.parametrize(
    ("torch", "fix", "release"),
    [
        ("2.12.1+cpu", "thread_local_fx", "2.12.1"),
        ("2.13.0", "call_lock", "2.13.0"),
        ("2.13.1.dev20260101", "call_lock", "2.13.0"),
        ("2.5.1", "thread_local_fx", "2.9.1"),
    ],
)
def test_the_cheapest_that_holds_everywhere(torch: str, fix: str, release: str, tmp_path: Path) -> None:
    verdicts(tmp_path, "2.9.1", {"thread_local_fx": "holds"})
    verdicts(tmp_path, "2.12.1", {"thread_local_fx": "holds", "call_lock": "holds"}, {"thread_local_fx": "holds"})
    verdicts(
        tmp_path, "2.13.0",
        {"thread_local_fx": "holds", "function_patch": "masks", "call_lock": "holds"},
        {"thread_local_fx": "untested", "function_patch": "holds", "call_lock": "holds"},
    )  # fmt: skip
    found = held(torch, tmp_path)
    assert (found.fix, found.release) == (fix, release)


def test_where_nothing_fails_nothing_is_to_be_fixed(tmp_path: Path) -> None:
    rows = [{"fix": "thread_local_fx", "verdict": "untested", "schedules": 9}]
    fails = {"control": {"failing": 1}, "rows": [{**rows[0], "verdict": "holds"}]}
    (tmp_path / "2.15.0.json").write_text(json.dumps([{"control": {"failing": 0}, "rows": rows}, fails]))
    assert str(held("2.15.0", tmp_path)) == "thread_local_fx (holds in 1 scenarios on torch 2.15.0, 9 schedules)"


def test_none_that_holds_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no verdicts in"):
        held("2.13.0", tmp_path)
    verdicts(tmp_path, "2.13.0", {"thread_local_fx": "holds"}, {"thread_local_fx": "untested"})
    with pytest.raises(UserError, match=r"no fix is known to hold on torch 2\.13\.0 \(2\.14\.0 is installed\)"):
        held("2.14.0", tmp_path)
