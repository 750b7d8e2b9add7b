"""Scenarios that cannot show much say so in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.programs import write

from harness.cli.main import main

CASES = {
    "never": ("scenario = Scenario([print, print], threads=(2, 2))", "no thread passes a point after its first"),
    "leaving": (
        """
        def leave(_):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
            marker("a")
        scenario = Scenario([leave, lambda _: marker("b")], threads=(2, 2))
        """,
        "T0.1 still ran when the bodies had ended",
    ),
    "usual": ("scenario = Scenario([lambda _: marker('a'), lambda _: marker('b')], threads=(2, 2))", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_a_line_each(tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    source, says = CASES[case]
    reference = write(tmp_path, source)
    assert main(["find", reference, "--json", "--budget", "60"]) == 0
    lines = json.loads(capsys.readouterr().out)["remarks"]
    assert len(lines) == bool(says)
    assert all(says in line for line in lines)
