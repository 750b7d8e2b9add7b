"""The command line: one line for a mistake, the documented exit statuses, JSON on standard output alone."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.programs import write

import harness
from harness.cli import find_
from harness.cli.main import main
from harness.schedule import Schedule, from_token, read_file, to_token

RACY = """
def body(log):
    log.append(thread_index())
    marker("between")
    log.append(thread_index())
def check(log, results):
    assert log in ([0, 0, 1, 1], [1, 1, 0, 0]), f"mixed: {log}"
scenario = Scenario([body, body], setup=lambda axes: [], check=check, axes={"depth": [1, 2]}, points=["names"])
"""
SAFE = "scenario = Scenario([lambda shared: marker('a'), lambda shared: marker('b')])\n"


@pytest.fixture
def racy(tmp_path: Path) -> str:
    return write(tmp_path, RACY, "racy")


@pytest.fixture
def safe(tmp_path: Path) -> str:
    return write(tmp_path, SAFE, "safe")


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["find"],
        ["find", "nothing.here"],
        ["find", "no.py:x"],
        ["replay", "token"],
        ["--jso"],
        ["find", "{}", "--threads", "8-2"],
        ["find", "{}", "--threads", "0"],
        ["find", "{}", "--threads", "2-99"],
        ["find", "{}", "--threads", "two"],
        ["find", "{}", "--threads", "1"],
        ["find", "{}", "--budget", "0"],
        ["find", "{}", "--budget", "-3"],
        ["find", "{}", "--seconds", "nan"],
        ["find", "{}", "--seconds", "0"],
        ["find", "{}", "--strategy", "magic"],
        ["find", "{}", "--fix", "magic"],
        ["find", "{}", "--mode", "fast"],
        ["find", "{}", "--axis", "depth=3"],
        ["find", "{}", "--axis", "depth"],
        ["find", "{}", "--axis", "x=1"],
        ["find", "{}", "--jobs", "0"],
        ["find", "{}", "--times", "0"],
        ["find", "{}", "--seed", "x"],
        ["stress", "{}", "--mode", "free"],
        ["stress", "{}", "--fix", "per_process"],
        ["run"],
        ["run", "--", "make", "test"],
        ["run", "--replay", "token"],
        ["run", "--replay", to_token(Schedule("flag.warm", 2))],
        ["run", "--replay", to_token(Schedule("run:python x.py", 1)), "--seed", "3"],
        ["run", "--replay", to_token(Schedule("run:python x.py", 1)), "--", "python", "y.py"],
        ["run", "--fix", "per_process", "--", "python", "x.py"],
        ["run", "--budget", "0", "--", "python", "x.py"],
        ["check", "{}", "--threads", "2-3"],
        ["check", "{}", "--require", "fails"],
        ["explain", "race1,x"],
        ["list", "extra"],
        ["find", "{}", "-o"],
    ],
)
def test_mistakes_are_one_line(racy: str, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    status, out, err = command(capsys, *(argument.format(racy) for argument in arguments))
    assert (status, out) == (2, "")
    assert err.startswith("harness: ")
    assert err.count("\n") == 1


def test_a_place_that_cannot_be_written(
    racy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = json.loads(command(capsys, "find", racy, "--json")[1])["token"]
    bad = str(tmp_path / "racy.py" / "out")
    for arguments in (["find", racy], ["explain", token]):
        status, _, err = command(capsys, *arguments, "-o", bad)
        assert status == 2
        assert err.startswith("harness: ")
        assert err.count("\n") == 1


def test_for_bisect_turns_mistakes_into_128(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(capsys, "--for-bisect", "find", "nothing.here")[0] == 128


def test_find_replay_explain(racy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "found.json"
    status, out, err = command(capsys, "find", racy, "--json", "-o", str(path))
    data = json.loads(out)
    assert (status, err) == (1, "")
    assert data["found"] is True
    assert data["outcome"] == "wrong value"
    assert data["switches"] == 1
    assert data["replay"] == {"times": 5, "same": 5}
    assert to_token(read_file(path)[0]) == data["token"] == read_file(path)[1]["token"]
    for what in (data["token"], str(path)):
        status, out, err = command(capsys, "replay", what, "--json", "--times", "4")
        again = json.loads(out)
        assert (status, err) == (1, "")
        assert (again["times"], again["same"], again["reproduced"]) == (4, 4, 4)
        assert again["signature"] == data["signature"]
    status, out, _ = command(capsys, "explain", data["token"])
    assert status == 0
    assert f"replay    harness replay {data['token']}" in out
    assert " after marker:between: hand over to T" in out


def test_none_found(safe: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = command(capsys, "find", safe, "--json")
    data = json.loads(out)
    assert (status, data["found"], data["token"]) == (0, False, "")
    assert "exhaustive up to 2 preemptions" in data["rests_on"]


def test_a_schedule_that_does_not_align(racy: str, capsys: pytest.CaptureFixture[str]) -> None:
    token = json.loads(command(capsys, "find", racy, "--json")[1])["token"]
    path = Path(racy.partition(":")[0])
    path.write_text(path.read_text().replace('"between"', '"renamed"'))
    status, out, err = command(capsys, "replay", token)
    assert (status, out) == (125, "")
    assert err.count("\n") == 1
    assert "never passed" in err


def test_a_schedule_of_another_shape(racy: str, safe: str, capsys: pytest.CaptureFixture[str]) -> None:
    for schedule in (
        Schedule(racy, 9),
        Schedule(racy, 2, axes={"depth": 7}),
        Schedule(racy, 2, axes={"x": 1}),
    ):
        assert command(capsys, "replay", to_token(schedule))[0] == 2


def test_not_reproduced(racy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(capsys, "replay", to_token(Schedule(racy, 2)))[0] == 0


def test_check(racy: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = command(capsys, "check", racy, "--fix", "none", "--json", "--budget", "60")
    data = json.loads(out)
    assert status == 0
    assert data["control"]["failing"] > 0
    assert [row["verdict"] for row in data["rows"]] == ["fails"]
    assert command(capsys, "replay", data["rows"][0]["token"])[0] == 1


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(command(capsys, "list", "--json")[1])
    assert "flag.warm" in data["scenarios"]
    assert {"none", "function_patch", "call_lock", "per_process"} <= set(data["fixes"])
    assert all(data["scenarios"].values())


def test_stress(safe: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = command(capsys, "stress", safe, "--runs", "5", "--json")
    assert status == 0
    assert json.loads(out)["outcomes"] == {"ok": 5}


def test_the_same_seed_finds_the_same(racy: str, capsys: pytest.CaptureFixture[str]) -> None:
    answers = [json.loads(command(capsys, "find", racy, "--json", "--seed", "5")[1]) for _ in range(2)]
    for answer in answers:
        del answer["seconds"]
    assert answers[0] == answers[1]


def test_the_artefact(racy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "found.json"
    assert command(capsys, "find", racy, "-o", str(path))[0] == 1
    schedule, about = read_file(path)
    assert about["token"] == to_token(schedule)
    assert Schedule.from_json(about["original"]) == from_token(about["original_token"])
    assert about["digest"] == hashlib.sha256(Path(racy.partition(":")[0]).read_bytes()).hexdigest()[:16]
    assert {"torch", "python", "platform", "outcome", "signature", "fix"} <= set(about)
    for token in (about["token"], about["original_token"]):
        assert command(capsys, "replay", token)[0] == 1


def test_a_file_that_cannot_be_written_takes_no_answer_with_it(
    racy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    status, out, err = command(capsys, "find", racy, "-o", str(tmp_path / "file" / "found.json"))
    assert status == 2
    assert "token     race1," in out
    assert err.count("\n") == 1


def test_interrupted_while_reducing(
    racy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(find_, "smallest", interrupted)
    status, out, err = command(capsys, "find", racy)
    assert (status, out) == (130, "")
    said, last = err.splitlines()
    assert last == "harness: interrupted"
    assert command(capsys, "replay", said.split()[-1])[0] == 1


def test_nowhere_to_say_it(racy: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "find", racy],
            env={**os.environ, "PYTHONPATH": str(Path(harness.__file__).parents[1])},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr
