"""A failure counts where it fails again; one that never does is no schedule's, and the answer is inconclusive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.programs import write

from harness.cli.main import main

#: Fails in the first so many runs, counted in a file: what a run depends on besides its schedule.
TIMES = """
def body(log):
    marker("a")
    log.append(thread_index())
def check(log, results):
    ran = os.open({path!r}, os.O_CREAT | os.O_APPEND | os.O_RDWR)
    os.write(ran, b"x")
    assert os.lseek(ran, 0, os.SEEK_END) not in {failing!r}, "by chance"
scenario = Scenario([body, body], setup=lambda axes: [], check=check, threads=(2, 2))
"""


def find(folder: Path, failing: list[int], capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    reference = write(folder, TIMES.format(path=str(folder / "ran"), failing=failing))
    status = main(["find", reference, "--json", "--jobs", "1", "--budget", "12", *options])
    return status, json.loads(capsys.readouterr().out)


def test_one_that_never_comes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, data = find(tmp_path, [3], capsys)
    assert (status, data["found"], data["certain"], data["token"]) == (0, False, False, "")
    assert "did not come back in 5 replays" in data["rests_on"]
    assert "by chance; two runs pass the same points and end otherwise: wrong value" in data["rests_on"]
    assert data["rests_on"].endswith(": inconclusive")


def test_one_that_comes_back_now_and_then(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, data = find(tmp_path, [n for n in range(3, 1000) if n % 2], capsys)
    assert (status, data["found"], data["outcome"]) == (1, True, "wrong value")


def test_one_that_came_back_and_then_no_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, data = find(tmp_path, [3, 4], capsys, "--times", "3")
    assert (status, data["found"], data["certain"]) == (0, False, False)
    assert "did not come back in" in data["rests_on"]
