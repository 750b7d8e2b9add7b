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
from support.programs import processes_of

import harness
from harness.cli import main
from harness.matrix import run

RELEASES = ("9.1.0", "9.3.0", "9.4.0", "9.5.0")
EXPECTED = """
[failures]
lost = "^AssertionError: lost"
[[expect]]
scenario = "SCENARIO"
failure = "lost"
torch = "<9.2"
found = false
budget = 900
[[expect]]
scenario = "SCENARIO"
failure = "lost"
torch = ">=9.2,<9.5"
found = true
budget = 100
directives = { exactly = 1 }
state = "?"
[[expect]]
scenario = "SCENARIO"
failure = "lost"
torch = ">=9.5"
found = false
budget = 900
"""


@pytest.fixture(autouse=True)
def envs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_ENVS", str(tmp_path / "cache" / "envs"))
    environments(tmp_path / "cache" / "envs", RELEASES)


@pytest.fixture
def expected(tmp_path: Path) -> Path:
    path = tmp_path / "expected.toml"
    path.write_text(EXPECTED.replace("SCENARIO", racy(tmp_path)))
    return path


def matrix(capsys, *arguments: str, status: int = 0, releases=RELEASES):
    """(standard output, standard error)"""
    assert main(["matrix", *arguments, "--torch", ",".join(releases), "--cached-only"]) == status, capsys.readouterr().err
    return capsys.readouterr()


def test_what_fails_where(tmp_path, capsys):
    out, _ = matrix(capsys, racy(tmp_path), "--json")
    data = json.loads(out)
    assert {row["torch"]: row["outcome"] for row in data["rows"]} == {
        "9.1.0": "ok", "9.3.0": "wrong value", "9.4.0": "wrong value", "9.5.0": "ok",
    }  # fmt: skip
    assert all(bool(row["token"]) == (row["outcome"] != "ok") for row in data["rows"])


def test_as_expected_in_every_format(tmp_path, capsys, expected):
    asked = [racy(tmp_path), "--expect", str(expected)]
    out, _ = matrix(capsys, *asked)
    assert [line.split()[2:] for line in out.splitlines()[2:3]] == [["ok", "wrong", "value", "1", "wrong", "value", "1", "ok"]]
    assert "| ok | wrong value 1 | wrong value 1 | ok |" in matrix(capsys, *asked, "--format", "markdown")[0]
    assert "<td" in matrix(capsys, *asked, "--format", "html")[0]
    suite = ElementTree.fromstring(matrix(capsys, *asked, "--format", "junit")[0])
    assert (suite.get("tests"), suite.get("failures")) == ("4", "0")
    target = tmp_path / "matrix.md"
    assert matrix(capsys, *asked, "--format", "markdown", "-o", str(target))[0] == ""
    assert target.read_text().startswith("## ")


@pytest.mark.parametrize(
    ("before", "after", "marks"),
    [
        ('torch = "<9.2"', 'torch = "<9.1"', None),
        (">=9.2,<9.5", ">=9.2,<9.4", {"9.4.0": "appeared"}),
        (">=9.2,<9.5", ">=9.2,<9.6", {"9.5.0": "fixed"}),
        ("exactly = 1", "exactly = 2", {"9.3.0": "changed: 1 directives", "9.4.0": "changed: 1 directives"}),
    ],
)
def test_what_is_no_longer_as_expected(tmp_path, capsys, expected, before, after, marks):
    text = expected.read_text().replace(before, after, 1)
    if "9.4" in after or "9.6" in after:
        text = text.replace('">=9.5"', f'">={after[-3:]}"')
    expected.write_text(text)
    asked = [racy(tmp_path), "--expect", str(expected), "--format", "junit"]
    if marks is None:  # a release the table says nothing about is as it is
        assert matrix(capsys, *asked)[0]
        return
    suite = ElementTree.fromstring(matrix(capsys, *asked, status=1)[0])
    found = {case.get("name"): failure.get("message") for case in suite.iter("testcase") for failure in case.iter("failure")}
    assert set(found) == set(marks)
    assert all(found[release].startswith(word) for release, word in marks.items())


def test_a_fix_is_a_row_of_its_own(tmp_path, capsys):
    fix = tmp_path / "locked.py"
    fix.write_text(
        "import contextlib, threading, sys\n@contextlib.contextmanager\ndef locked():\n    import racy\n"
        "    lock, original = threading.Lock(), racy.lost\n    def one(counter):\n        with lock: original(counter)\n"
        "    racy.lost = one\n    yield\n    racy.lost = original\n"
    )
    out, _ = matrix(capsys, racy(tmp_path), "--fix", "none", "--fix", f"{fix}:locked", "--json", releases=("9.3.0",))
    assert [(row["fix"], row["outcome"]) for row in json.loads(out)["rows"]] == [("none", "wrong value"), (f"{fix}:locked", "ok")]


def test_a_second_run_asks_nothing(tmp_path, capsys, monkeypatch):
    first, _ = matrix(capsys, racy(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(run, "ask", None)
        assert matrix(capsys, racy(tmp_path))[0] == first
    _, err = matrix(capsys, racy(tmp_path, other=(9, 9)))  # another source
    assert err.count("[") == len(RELEASES)


def test_a_token_is_replayed(tmp_path, capsys):
    out, _ = matrix(capsys, racy(tmp_path), "--json", releases=("9.3.0",))
    token = json.loads(out)["rows"][0]["token"]
    data = json.loads(matrix(capsys, token, "--json")[0])
    assert {row["torch"]: row["outcome"] for row in data["rows"]} == {
        "9.1.0": "?", "9.3.0": "wrong value", "9.4.0": "?", "9.5.0": "?",
    }  # fmt: skip
    assert "not aligned" in data["table"]["cells"][2]["detail"]


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
    program = racy(tmp_path)
    process = start([program])
    assert process.stderr is not None
    process.stderr.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.stderr.close()
    process.wait()
    _, err = matrix(capsys, program)
    assert 0 < err.count("[") < len(RELEASES)


def test_interrupted_it_leaves_nothing_behind(tmp_path):
    program = tmp_path / "endless.py"
    program.write_text("from harness import Scenario\ndef body(x):\n    while True: pass\nscenario = Scenario([body, body], seconds=9999.0)\n")
    process = start([str(program)])
    assert process.stderr is not None
    while not processes_of(str(program)):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.splitlines()[-1] == "harness: interrupted"
    assert processes_of(str(program)) == []


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
