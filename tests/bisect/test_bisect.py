"""Bisects of a small program over environments that stand for releases, by the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.environments import environments, racy

import harness
from harness.bisect import run
from harness.cli import main
from harness.control.actions import HandOver
from harness.schedule import Directive, Schedule, to_token

RELEASES = ("9.0.0", "9.1.0", "9.2.0", "9.3.0", "9.4.0", "9.5.0", "9.6.0")


@pytest.fixture(autouse=True)
def envs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_ENVS", str(tmp_path / "cache" / "envs"))
    environments(tmp_path / "cache" / "envs", RELEASES)
    return tmp_path / "cache" / "envs"


def bisect(capsys, *arguments: str, status: int = 0):
    """(JSON or nothing, standard error)"""
    assert main(["bisect", *arguments, "--cached-only", "--json"]) == status, capsys.readouterr().err
    out, err = capsys.readouterr()
    return (json.loads(out) if out else None), err


def test_a_race_is_followed_over_releases(tmp_path, capsys, monkeypatch):
    """9.4.0 has it behind a point of another name: there the schedule does not align, and the search finds it again."""
    report, asked = tmp_path / "report.md", [racy(tmp_path), "--old", "9.3.0", "--new", "9.5.0"]
    data, _ = bisect(capsys, *asked, "-o", str(report), "--pull", "https://example.org/1")
    assert (data["kind"], data["last_old"], data["first_new"]) == ("fixed", "9.4.0", "9.5.0")
    assert data["signature"].startswith("AssertionError: lost: <n>")
    steps = {step["torch"]: step for step in data["tested"]}
    assert [steps[release]["result"] for release in ("9.3.0", "9.4.0", "9.5.0")] == ["present", "present", "absent"]
    assert "marker:between" in steps["9.3.0"]["token"]
    assert "marker:amid" in steps["9.4.0"]["token"]
    text = report.read_text()
    assert text.startswith("# Fixed in torch 9.5.0: still there in 9.4.0 (of the releases at hand)\n")
    for part in ("https://example.org/1", "--torch 9.4.0", "A script that needs torch alone", "| 9.5.0 | absent |", "marker:amid"):
        assert part in text, part

    monkeypatch.setattr(run.race, "ask", None)  # a finished bisect is told again without a run
    again, _ = bisect(capsys, *asked, "-o", str(report))
    assert again == data
    assert main(["bisect", "--replay", data["log"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == data


def test_a_token_says_which_failure_is_meant(tmp_path, capsys):
    program = racy(tmp_path)
    token = to_token(Schedule(program, 2, directives=(Directive("T0", "marker:between", 1, HandOver("T1")),)))
    _, err = bisect(capsys, token, "--old", "9.2.0", "--new", "9.3.0", status=2)
    assert "torch 9.2.0: present, the schedule replayed, 3 of 3 runs failed" in err
    assert err.splitlines()[-1].startswith("harness: both ends are equal: the failure is there on torch 9.2.0 and on 9.3.0")


def test_a_program_that_fails_without_a_switch_says_nothing(tmp_path, capsys):
    program = racy(tmp_path, other=(9, 4, 0))
    _, err = bisect(capsys, program, "--old", "9.4.0", "--new", "9.6.0", "--matching", "lost", status=125)
    assert "torch 9.4.0, one of the ends, can't be tested: it fails there without any switch: error: KeyError" in err


SCRIPT = "python -c \"import os; raise SystemExit(os.environ['FAKE_TORCH'] >= '9.3')\""
ASKED = ("--script", SCRIPT, "--old", "9.0.0", "--new", "9.6.0")


def test_a_script(capsys):
    data, _ = bisect(capsys, *ASKED, "--times", "2")
    assert (data["kind"], data["last_old"], data["first_new"]) == ("appeared", "9.2.0", "9.3.0")


def kill_after(steps: int, log: Path) -> None:
    """Killed, not ended, as soon as it has told of so many steps."""
    root = str(Path(harness.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "bisect", *ASKED, "--cached-only", "--log", str(log)],
        env={**os.environ, "PYTHONPATH": root}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        steps -= line.startswith("torch ")
        if steps == 0:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.stderr.close()
    process.wait()


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_killed_at_any_step_it_goes_on(tmp_path, capsys, steps):
    log = tmp_path / "log"
    kill_after(steps, log)
    data, err = bisect(capsys, *ASKED, "--log", str(log))
    assert (data["last_old"], data["first_new"], len(data["tested"])) == ("9.2.0", "9.3.0", 5)
    assert err.count("(from ") >= steps


def test_corrected_by_hand(tmp_path, capsys):
    """As with ``git bisect log``: steps are taken out or changed, and the bisect goes on from there."""
    log = tmp_path / "log"
    bisect(capsys, *ASKED, "--log", str(log))
    lines = [line for line in log.read_text().splitlines(keepends=True) if '"torch": "9.2.0"' not in line]
    changed = [line.replace('"present"', '"skip"') if '"torch": "9.3.0"' in line else line for line in lines]
    assert changed != lines
    log.write_text("".join(changed))
    data, _ = bisect(capsys, *ASKED, "--log", str(log), status=125)
    assert (data["last_old"], data["first_new"], data["not_tested"]) == ("9.2.0", "9.4.0", ["9.3.0"])


def test_a_script_that_skips(capsys):
    script = "case $HARNESS_TORCH in 9.0.*|9.1.*) exit 0;; 9.2.*|9.3.*) exit 125;; esac; exit 3"
    data, _ = bisect(capsys, "--script", script, "--old", "9.0.0", "--new", "9.6.0", status=125)
    assert (data["last_old"], data["first_new"], data["not_tested"]) == ("9.1.0", "9.4.0", ["9.2.0", "9.3.0"])


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("no_such_command_anywhere", "127 (a command was not found)"),
        ("kill -9 $$", "signal 9"),
        ("exit 255", "255 on torch"),
        ("/dev/null", "126 (it can't be executed)"),
    ],
)
def test_a_script_that_says_nothing(capsys, command, says):
    _, err = bisect(capsys, "--script", command, "--old", "9.0.0", "--new", "9.6.0", status=2)
    assert f"the script ended with {says}" in err.splitlines()[-1]
    # what it has is kept: with the command put right, nothing was concluded from that end
    assert "present" not in err


def test_a_script_that_fails_sometimes(tmp_path, capsys):
    """Every second run of what has the failure passes: two runs a release see it, and the report says how sure that is."""
    script = f"case $HARNESS_TORCH in 9.[012].*) exit 0;; esac; echo >> {tmp_path}/runs; exit $(($(wc -l < {tmp_path}/runs) % 2))"
    asked = ["--script", script, "--old", "9.0.0", "--new", "9.6.0", "--times", "2"]
    data, _ = bisect(capsys, *asked)
    assert (data["last_old"], data["first_new"]) == ("9.2.0", "9.3.0")
    assert {(step["failed"], step["times"]) for step in data["tested"] if step["result"] == "present"} == {(1, 2)}
    assert main(["bisect", "--replay", data["log"]]) == 0
    out = capsys.readouterr().out
    assert "NOT deterministic" in out
    assert "as few as 50% of the runs failed: a release that has it passes with probability 0.25" in out


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ([], "say a scenario, a token, or --script"),
        (["flag.warm", "--script", "true"], "one of them alone"),
        (["flag.warm"], "between which releases"),
        (["flag.warm", "--old", "9.6.0", "--new", "9.0.0"], "the older release first"),
        (["flag.warm", "--old", "9.6.0", "--new", "9.6"], "the older release first"),
        (["flag.warm", "--old", "two", "--new", "9.0.0"], "--old 'two': no version of torch"),
        (["flag.warm", "--old", "9.0.0", "--new", "9.9.0"], "no environment of it is at hand; make one: harness env add 9.9.0"),
        (["flag.warm", "--old", "2026-11-01", "--new", "9.0.0"], "two dates of nightly builds"),
        (["no.such", "--old", "9.0.0", "--new", "9.1.0"], "unknown scenario"),
        (["no.py", "--old", "9.0.0", "--new", "9.1.0"], "no.py: No such file"),
        (["race1,x", "--old", "9.0.0", "--new", "9.1.0"], "checksum"),
        (["flag.warm", "--old", "9.0.0", "--new", "9.1.0", "--matching", "("], "--matching '('"),
        (["flag.warm", "--old", "9.0.0", "--new", "9.1.0", "--axis", "x"], "NAME=VALUE"),
        (["--script", "true", "--old", "9.0.0", "--new", "9.1.0", "--matching", "x"], "a command has no signature"),
        (["flag.warm", "--replay", "log"], "the log says what is asked"),
        (["--replay", "/nowhere/log"], "/nowhere/log: No such file"),
    ],
)
def test_mistakes_are_one_line(capsys, asked, says):
    _, err = bisect(capsys, *asked, status=2)
    assert says in err
    assert err.count("\n") == 1
