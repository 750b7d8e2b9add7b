"""``harness find --store`` and ``harness merge`` on the command line: statuses, one line for a mistake, Ctrl-C."""

from __future__ import annotations

import json
import os
import select
import signal
from pathlib import Path

import pytest
from support.campaigns import LOST, SAFE, TWO_WAYS, start
from support.programs import ENDLESS, processes_of, write

from harness.campaign.merge import merge
from harness.campaign.store import Store
from harness.cli.main import main


def command(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def test_a_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost, safe = write(tmp_path, LOST, "lost"), write(tmp_path, SAFE, "safe")
    store = tmp_path / "s.db"
    status, out, err = command(capsys, "find", lost, safe, "--store", store, "--budget", "30", "--jobs", "1")
    assert status == 1, err
    token = next(line for line in err.splitlines() if "harness replay" in line).split()[-1]
    assert f"harness replay {token}\n" in out
    assert "replayed 5 of 5 times" in out
    assert f"{safe}, 2 to 8 threads  nothing shown: " in out
    assert "source " in out
    again = command(capsys, "find", lost, safe, "--store", store, "--budget", "30")
    assert again == (1, out, ""), "nothing is left to do, and nothing new is told"
    assert command(capsys, "merge", store) == (0, out.removeprefix(f"{store}: "), "")
    item = json.loads(command(capsys, "merge", store, "--json")[1])["failures"][0]
    assert {"digest", "torch", "python", "platform", "token", "original_token", "minimal", "original"} <= set(item)
    assert item["token"] == token


def test_none_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safe = write(tmp_path, SAFE, "safe")
    status, out, _ = command(capsys, "find", safe, "--store", tmp_path / "folder", "--json", "--budget", "200", "--threads", "2")
    data = json.loads(out)
    assert status == 0
    assert not data["found"]
    assert data["store"] == str(tmp_path / "folder" / "campaign.db")
    assert [item["certain"] for item in data["negatives"]] == [True]


def test_a_limit_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safe = write(tmp_path, SAFE, "safe")
    _, out, _ = command(capsys, "find", safe, "--store", tmp_path / "s.db", "--budget", "3")
    assert "nothing shown: " in out
    assert "inconclusive" in out
    _, out, _ = command(capsys, "find", safe, "--store", tmp_path / "t.db", "--seconds", "0.000001")
    assert "no search has ended: inconclusive" in out


def test_seconds_end_it_and_the_next_time_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safe, store = write(tmp_path, SAFE, "safe"), tmp_path / "s.db"
    counts = []
    for _ in range(2):
        assert command(capsys, "find", safe, "--store", store, "--seconds", "6", "--budget", "5")[0] == 0
        counts.append(len(merge([store]).units))
    assert 0 < counts[0] < counts[1]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--shard", "1/2"], "--store"),
        (["--seeds", "2"], "--store"),
        (["--store", "{}/s.db", "--shard", "0/2"], "part"),
        (["--store", "{}/s.db", "--shard", "3/2"], "part"),
        (["--store", "{}/s.db", "--shard", "x"], "part"),
        (["--store", "{}/s.db", "--output", "x.json"], "--output"),
        (["--store", "{}/s.db", "--threads", "9"], "--threads"),
        (["--store", "{}/s.db", "--axis", "a=1"], "--axis"),
        (["--store", "{}/s.db", "--fix", "nothing"], "fix"),
        (["--store", "{}/safe.py"], "not a store"),
        (["no.py", "--store", "{}/s.db"], "no.py"),
        (["{}/safe.py"], "--store"),
    ],
)
def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], word: str) -> None:
    safe = write(tmp_path, SAFE, "safe")
    status, out, err = command(capsys, "find", safe, *(item.format(tmp_path) for item in arguments))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert word in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["safe.py"]


def test_another_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safe, store = write(tmp_path, SAFE, "safe"), tmp_path / "s.db"
    assert command(capsys, "find", safe, "--store", store, "--budget", "5")[0] == 0
    before = store.read_bytes()
    write(tmp_path, TWO_WAYS, "safe")
    status, _, err = command(capsys, "find", safe, "--store", store, "--budget", "5")
    assert status == 2
    assert err.count("\n") == 1
    assert "digest" in err
    assert store.read_bytes() == before


def test_a_scenario_whose_set_up_raises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost = write(tmp_path, LOST, "lost")
    broken = write(tmp_path, "scenario = Scenario([id, id], setup=lambda axes: 1 / 0)", "broken")
    store = tmp_path / "s.db"
    status, out, err = command(capsys, "find", lost, broken, "--store", store, "--jobs", "1", "--budget", "30")
    assert (status, out) == (2, "")
    assert "ZeroDivisionError" in err.splitlines()[-1]
    assert len(merge([store]).failures) == 1, "what came before is kept"




def test_interrupted(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    lost, stops = write(tmp_path, LOST, "lost"), write(tmp_path, ENDLESS.format(fifo=str(fifo)), "stops")
    store = tmp_path / "s.db"
    process = start([lost, stops, "--store", str(store), "--jobs", "1", "--budget", "30"])
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert select.select([reader], [], [], 60)[0]  # the second scenario runs: the first is done and reported
    os.close(reader)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-2:] == [
        f"harness: 1 units and 1 failures are kept in {store}; the same command goes on from there",
        "harness: interrupted",
    ]
    assert "Traceback" not in err
    assert processes_of(str(tmp_path)) == []
    content = merge([store])
    assert list(content.units) == [0]
    assert [failure["token"] in err for failure in content.failures.values()] == [True]


KILLS = """
def body(shared):
    os.kill({what}, signal.SIGKILL)
    signal.pause()
scenario = Scenario([body])
"""
#: the forking parent, and the process of the campaign that it belongs to
PARENT = "os.getppid()"
WORKER = 'int(open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1])'


@pytest.mark.parametrize(("what", "word"), [(PARENT, "forking parent"), (WORKER, "process of the campaign")])
def test_a_process_of_it_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, word: str
) -> None:
    lost, kills = write(tmp_path, LOST, "lost"), write(tmp_path, KILLS.format(what=what), "kills")
    store = tmp_path / "s.db"
    status, out, err = command(capsys, "find", lost, kills, "--store", store, "--jobs", "1", "--budget", "30")
    assert (status, out) == (125, "")
    assert word in err.splitlines()[-1]
    assert "SIGKILL" in err.splitlines()[-1]
    assert list(merge([store]).units) == [0], "what came before is kept"


def test_a_store_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safe, store = write(tmp_path, SAFE, "safe"), tmp_path / "s.db"
    assert command(capsys, "find", safe, "--store", store, "--budget", "5")[0] == 0
    with Store(store, merge([store]).plan):
        for arguments in (["find", safe, "--store", store, "--budget", "5"], ["merge", store]):
            status, out, err = command(capsys, *arguments)
            assert (status, out) == (2, "")
            assert "in use" in err
            assert err.count("\n") == 1
