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


def test_fixed(tmp_path, capsys):
    data, _ = bisect(capsys, racy(tmp_path), "--old", "9.2.0", "--new", "9.6.0")
    assert (data["kind"], data["last_old"], data["first_new"]) == ("fixed", "9.4.0", "9.5.0")
    assert data["exact"]
    assert "lost: <n>" in data["signature"]
    results = {step["torch"]: step["result"] for step in data["tested"]}
    assert results == {"9.2.0": "present", "9.4.0": "present", "9.5.0": "absent", "9.6.0": "absent"}


def test_appeared(tmp_path, capsys):
    data, _ = bisect(capsys, racy(tmp_path), "--old", "9.0.0", "--new", "9.3.0")
    assert (data["kind"], data["last_old"], data["first_new"]) == ("appeared", "9.1.0", "9.2.0")


def test_a_schedule_that_does_not_align_is_searched_for_again(tmp_path, capsys):
    """9.4.0 has the failure behind a point of another name."""
    data, _ = bisect(capsys, racy(tmp_path), "--old", "9.3.0", "--new", "9.5.0")
    tokens = {step["torch"]: step["token"] for step in data["tested"] if step["token"]}
    assert "marker:between" in tokens["9.3.0"]
    assert "marker:amid" in tokens["9.4.0"]


def test_a_token_says_which_failure_is_meant(tmp_path, capsys):
    first, _ = bisect(capsys, racy(tmp_path), "--old", "9.2.0", "--new", "9.6.0")
    data, _ = bisect(capsys, first["tested"][0]["token"], "--old", "9.2.0", "--new", "9.6.0")
    assert data["tested"][0]["why"].startswith("the schedule replayed, 3 of 3")
    assert (data["last_old"], data["first_new"]) == ("9.4.0", "9.5.0")


def test_another_failure_is_not_taken_for_it_and_is_named(tmp_path, capsys):
    data, _ = bisect(capsys, racy(tmp_path, other=(9, 4, 0)), "--old", "9.2.0", "--new", "9.6.0", "--times", "1")
    step = next(step for step in data["tested"] if step["torch"] == "9.4.0")
    assert step["result"] == "skip"  # it fails without a switch there
    assert "KeyError" in step["others"][0]


def test_with_the_other_one_meant(tmp_path, capsys):
    program = racy(tmp_path, other=(9, 4, 0))
    _, err = bisect(capsys, program, "--old", "9.4.0", "--new", "9.6.0", "--matching", "lost", status=125)
    assert "torch 9.4.0, one of the ends, can't be tested: it fails there without any switch" in err


def test_equal_ends(tmp_path, capsys):
    _, err = bisect(capsys, racy(tmp_path), "--old", "9.2.0", "--new", "9.4.0", status=2)
    assert err.splitlines()[-1].startswith("harness: both ends are equal: the failure is there on torch 9.2.0 and on 9.4.0")


def test_a_finished_one_is_told_again_without_a_run(tmp_path, capsys, monkeypatch):
    asked = [racy(tmp_path), "--old", "9.2.0", "--new", "9.6.0"]
    first, _ = bisect(capsys, *asked)
    monkeypatch.setattr(run.race, "ask", None)
    again, _ = bisect(capsys, *asked)
    assert again == first
    assert main(["bisect", "--replay", first["log"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == first


def test_another_source_is_another_question(tmp_path, capsys):
    first, _ = bisect(capsys, racy(tmp_path), "--old", "9.2.0", "--new", "9.6.0")
    second, _ = bisect(capsys, racy(tmp_path, other=(9, 9)), "--old", "9.2.0", "--new", "9.6.0")
    assert first["log"] != second["log"]


def test_corrected_by_hand(tmp_path, capsys):
    """As with ``git bisect log``: steps are taken out or changed, and the bisect goes on from there."""
    log = tmp_path / "log"
    asked = [racy(tmp_path), "--old", "9.2.0", "--new", "9.6.0"]
    bisect(capsys, *asked, "--log", str(log))
    lines = [line for line in log.read_text().splitlines(keepends=True) if '"torch": "9.5.0"' not in line]
    changed = [line.replace('"present"', '"skip"') if '"torch": "9.4.0"' in line else line for line in lines]
    assert changed != lines
    log.write_text("".join(changed))
    data, _ = bisect(capsys, *asked, "--log", str(log), status=125)
    assert (data["last_old"], data["first_new"], data["not_tested"]) == ("9.3.0", "9.5.0", ["9.4.0"])


def test_report(tmp_path, capsys):
    target = tmp_path / "report.md"
    asked = [racy(tmp_path), "--old", "9.2.0", "--new", "9.6.0"]
    bisect(capsys, *asked, "-o", str(target), "--pull", "https://example.org/1")
    text = target.read_text()
    assert text.startswith("# Fixed in torch 9.5.0: still there in 9.4.0\n")
    for part in ("https://example.org/1", "--torch 9.4.0", "A script that needs torch alone", "| 9.6.0 | absent |", "marker:amid"):
        assert part in text, part


def kill_after(steps: int, arguments: list[str], log: Path) -> None:
    """Killed, not ended, as soon as the log has so many steps."""
    root = str(Path(harness.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "bisect", *arguments, "--cached-only", "--log", str(log)],
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


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_killed_at_any_step_it_goes_on(tmp_path, capsys, steps):
    log = tmp_path / "log"
    asked = [racy(tmp_path), "--old", "9.2.0", "--new", "9.6.0"]
    kill_after(steps, asked, log)
    data, err = bisect(capsys, *asked, "--log", str(log))
    assert (data["last_old"], data["first_new"], len(data["tested"])) == ("9.4.0", "9.5.0", 4)
    assert err.count("(from ") == steps


SCRIPT = "python -c \"import os; raise SystemExit(os.environ['FAKE_TORCH'] >= '9.3')\""


def test_a_script(capsys):
    data, _ = bisect(capsys, "--script", SCRIPT, "--old", "9.0.0", "--new", "9.6.0", "--times", "2")
    assert (data["kind"], data["last_old"], data["first_new"]) == ("appeared", "9.2.0", "9.3.0")


def test_a_script_that_skips(capsys):
    script = "case $HARNESS_TORCH in 9.0.*|9.1.*) exit 0;; 9.2.*|9.3.*) exit 125;; esac; exit 3"
    data, _ = bisect(capsys, "--script", script, "--old", "9.0.0", "--new", "9.6.0", status=125)
    assert (data["last_old"], data["first_new"], data["not_tested"]) == ("9.1.0", "9.4.0", ["9.2.0", "9.3.0"])


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("no_such_command_anywhere", "127 (a command was not found)"),
        ("kill -9 $$", "signal 9"),
        ("exit 255", "signal 127"),
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
    script = f"test $HARNESS_TORCH '<' 9.3 && exit 0; echo >> {tmp_path}/runs; exit $(($(wc -l < {tmp_path}/runs) % 2))"
    script = script.replace("test $HARNESS_TORCH '<' 9.3", "case $HARNESS_TORCH in 9.[012].*) true;; *) false;; esac")
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
