"""Scenarios x releases x fixes, of a small program over environments that stand for releases."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.environments import environments, racy
from support.programs import ENDLESS, processes_of, write

import harness
from harness.cli import main
from harness.control.actions import HandOver
from harness.matrix import run
from harness.schedule import Directive, Schedule, to_token

RELEASES = ("9.3.0", "9.4.0", "9.5.0")
EXPECTED = """
[failures]
lost = "^AssertionError: lost"
[[expect]]
scenario = "SCENARIO"
failure = "lost"
torch = "<9.5"
found = true
budget = 900
directives = { exactly = 1 }
state = "?"
[[expect]]
scenario = "SCENARIO"
failure = "lost"
torch = ">=9.5"
found = false
budget = 900
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, the table and the environments; answers are kept there from test to test."""
    folder = tmp_path_factory.mktemp("matrix")
    environments(folder / "cache" / "envs", RELEASES)
    (folder / "expected.toml").write_text(EXPECTED.replace("SCENARIO", racy(folder)))
    return folder


@pytest.fixture(autouse=True)
def envs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_ENVS", str(place / "cache" / "envs"))


@pytest.fixture
def asked(place: Path) -> list[str]:
    return [str(place / "racy.py"), "--expect", str(place / "expected.toml")]


def matrix(capsys, *arguments: str, status: int = 0, releases=RELEASES):
    """(standard output, standard error)"""
    assert main(["matrix", *arguments, "--torch", ",".join(releases), "--cached-only"]) == status, capsys.readouterr().err
    return capsys.readouterr()


def test_what_fails_where(capsys, asked):
    data = json.loads(matrix(capsys, *asked, "--json")[0])
    outcomes = {row["torch"]: (row["outcome"], row["unexpected"]) for row in data["rows"]}
    assert outcomes == {"9.3.0": ("wrong value", ""), "9.4.0": ("wrong value", ""), "9.5.0": ("ok", "")}
    assert all(bool(row["token"]) == (row["outcome"] != "ok") for row in data["rows"])


def test_as_expected_in_every_format(tmp_path, capsys, asked, monkeypatch):
    first, _ = matrix(capsys, *asked)
    assert first.splitlines()[2].split()[2:] == ["wrong", "value", "1", "wrong", "value", "1", "ok"]
    monkeypatch.setattr(run, "ask", None)  # a second run asks nothing
    assert matrix(capsys, *asked)[0] == first
    assert "| wrong value 1 | wrong value 1 | ok |" in matrix(capsys, *asked, "--format", "markdown")[0]
    assert "<td" in matrix(capsys, *asked, "--format", "html")[0]
    suite = ElementTree.fromstring(matrix(capsys, *asked, "--format", "junit")[0])
    assert (suite.get("tests"), suite.get("failures")) == ("3", "0")
    target = tmp_path / "matrix.md"
    assert matrix(capsys, *asked, "--format", "markdown", "-o", str(target))[0] == ""
    assert target.read_text().startswith("## ")


@pytest.mark.parametrize(
    ("before", "after", "marks"),
    [
        ("9.5", "9.4", {"9.4.0": "appeared"}),
        ("9.5", "9.6", {"9.5.0": "fixed"}),
        ("exactly = 1", "exactly = 2", {"9.3.0": "changed: 1 directives", "9.4.0": "changed: 1 directives"}),
    ],
)
def test_what_is_no_longer_as_expected(tmp_path, capsys, asked, before, after, marks):
    table = tmp_path / "table.toml"
    table.write_text(Path(asked[2]).read_text().replace(before, after))
    suite = ElementTree.fromstring(matrix(capsys, asked[0], "--expect", str(table), "--format", "junit", status=1)[0])
    found = {case.get("name"): failure.get("message") for case in suite.iter("testcase") for failure in case.iter("failure")}
    assert set(found) == set(marks)
    assert all(found[release].startswith(word) for release, word in marks.items())


def test_one_name_may_mean_another_failure_in_a_later_release(place, tmp_path, capsys):
    later = EXPECTED.replace('lost = "^Ass', 'hang = "^TimeoutError"\nlost = "^Ass').replace('failure = "lost"', 'failure = "hang"', 1)
    (tmp_path / "table.toml").write_text(later.replace("<9.5", "<9.4").replace(">=9.5", ">=9.4").replace("SCENARIO", racy(place)))
    text, _ = matrix(capsys, str(place / "racy.py"), "--expect", str(tmp_path / "table.toml"), "--json", status=1)
    assert [(row["torch"], row["outcome"], row["unexpected"].partition(":")[0]) for row in json.loads(text)["rows"]] == [
        ("9.3.0", "ok", "fixed"), ("9.4.0", "wrong value", "appeared"), ("9.5.0", "ok", ""),
    ]  # fmt: skip


def test_a_fix_is_a_row_of_its_own_and_a_token_is_replayed(tmp_path, capsys, asked):
    fix = tmp_path / "locked.py"
    fix.write_text(
        "import contextlib, threading\n@contextlib.contextmanager\ndef locked():\n    import racy\n"
        "    lock, original = threading.Lock(), racy.lost\n    def one(counter):\n        with lock: original(counter)\n"
        "    racy.lost = one\n    yield\n    racy.lost = original\n"
    )
    token = json.loads(matrix(capsys, *asked, "--json", releases=("9.3.0",))[0])["rows"][0]["token"]
    out, _ = matrix(capsys, token, "--fix", "none", "--fix", f"{fix}:locked", "--json")
    data = json.loads(out)
    outcomes = {(row["fix"], row["torch"]): row["outcome"] for row in data["rows"]}
    assert [outcomes["none", release] for release in RELEASES] == ["wrong value", "?", "?"]
    assert outcomes[f"{fix}:locked", "9.3.0"] == "ok"
    assert "not aligned" in data["table"]["cells"][1]["detail"]


def test_another_source_is_asked_again(tmp_path, capsys):
    _, err = matrix(capsys, racy(tmp_path, other=(9, 4, 0)), releases=("9.4.0",))
    assert err.count("[") == 1


def test_what_cannot_be_run_is_undecided_and_asked_again(tmp_path, capsys):
    program = tmp_path / "broken.py"
    program.write_text("import os\nfrom harness import Scenario\nassert os.environ['FAKE_TORCH'] != '9.3.0', 'not here'\n"
                       "scenario = Scenario([lambda x: 1, lambda x: 2])\n")  # fmt: skip
    for _ in range(2):
        out, err = matrix(capsys, str(program), "--json", releases=("9.3.0", "9.8.0"))
        cells = json.loads(out)["table"]["cells"]
        assert [cell["text"] for cell in cells] == ["?", "?"]
        assert "not here" in cells[0]["detail"]
        assert "no environment of it is at hand" in cells[1]["detail"]
        assert "torch 9.3.0" in err


def start(arguments: list[str]) -> subprocess.Popen[str]:
    root = str(Path(harness.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-m", "harness", "matrix", *arguments, "--torch", ",".join(RELEASES), "--jobs", "1"],
        env={**os.environ, "PYTHONPATH": root}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def test_killed_it_goes_on(tmp_path, capsys):
    """The token fails on the first release, and does not align on the other two: only the first answer is kept."""
    token = to_token(Schedule(racy(tmp_path), 2, directives=(Directive("T0", "marker:between", 1, HandOver("T1")),)))
    process = start([token])
    assert process.stderr is not None
    assert process.stderr.readline().startswith("[1/3] torch 9.3.0")
    os.kill(process.pid, signal.SIGKILL)
    process.stderr.close()
    process.wait()
    out, err = matrix(capsys, token)
    assert err.count("[") == 2
    assert "torch 9.3.0" not in err
    assert "wrong value 1" in out


def test_interrupted_it_leaves_nothing_behind(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = write(tmp_path, ENDLESS.format(fifo=str(fifo)), "endless")
    process = start([program])
    fifo.read_bytes()  # a body has begun
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.splitlines()[-1] == "harness: interrupted"
    assert processes_of(str(tmp_path / "endless.py")) == []


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["no.such"], "unknown scenario"),
        (["flag.warm", "--fix", "magic"], "unknown fix"),
        (["flag.warm", "--expect", "/nowhere"], "/nowhere: No such file"),
        (["flag.warm", "--json", "--format", "html"], "--json is a format of its own"),
        (["race1,x"], "checksum"),
    ],
)
def test_mistakes_are_one_line(capsys, asked, says):
    _, err = matrix(capsys, *asked, status=2)
    assert says in err
    assert err.count("\n") == 1


def test_releases_that_are_none(capsys):
    for text, says in (("two", "'two' is no version"), (",", "--torch: releases")):
        assert main(["matrix", "flag.warm", "--torch", text]) == 2
        assert says in capsys.readouterr().err
