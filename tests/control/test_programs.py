"""Programs that a body starts: a time-out on one ends by the program's time, and only where no thread can run."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.inline import Inline, at

from harness import marker
from harness.control.forks import clocked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="told from /proc")

HOUR = 3600.0
SHORT = ["sleep", "0.2"]  # goes on by itself, within any time-out below but one
SPINS = [sys.executable, "-S", "-E", "-c", "while True: pass"]


def waits(_: Any) -> int:
    return subprocess.Popen(SHORT).wait(timeout=HOUR)


def captures(_: Any) -> str:
    return subprocess.run(["sh", "-c", "sleep 0.2; echo out"], capture_output=True, timeout=HOUR, text=True).stdout


def polls(_: Any) -> int:
    process = subprocess.Popen(SHORT)
    while process.poll() is None:
        time.sleep(0.02)
    return process.returncode


def late(command: list[str], seconds: float) -> Any:
    def body(_: Any) -> str:
        try:
            subprocess.run(command, timeout=seconds, stdin=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return "late"
        return "in time"

    return body


def fed(_: Any) -> str:
    """It waits for us without a time-out: ours, of an hour, ends at once."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with pytest.raises(subprocess.TimeoutExpired, match="3600"):
        process.wait(HOUR)
    return process.communicate("fed", timeout=HOUR)[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [(waits, 0), (captures, "out\n"), (polls, 0), (fed, "fed"), (late(["sleep", "60"], 0.1), "late"), (late(SPINS, 0.1), "late")],
)
def test_beside_a_thread_that_sleeps(inline: Inline, body: Any, expected: Any) -> None:
    report = inline.run([body, lambda _: time.sleep(0.01)])
    assert (report.outcome, report.results, report.uncontrolled) == ("ok", [expected, None], [])


@pytest.mark.parametrize("body", [waits, captures])
def test_two_runs_are_one(inline: Inline, body: Any) -> None:
    inline.run([body])  # imports
    assert len({inline.run([body, lambda _: marker("a")], at("T0", "wait", "T1")).digest for _ in range(3)}) == 1


def test_one_that_waits_for_another_thread(inline: Inline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocked, "PATIENCE", 0.2)
    done = tmp_path / "done"
    script = f"while ! test -e {done}; do sleep 0.05; done"
    report = inline.run([lambda _: subprocess.Popen(["sh", "-c", script]).wait(HOUR), lambda _: done.touch()])
    assert (report.outcome, report.results) == ("ok", [0, None])
