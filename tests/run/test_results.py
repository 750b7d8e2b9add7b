"""What bodies may return: plain data, which arrives as it was; anything else is said clearly."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.programs import write

from harness.errors import UserError
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule


@pytest.mark.parametrize(
    "value",
    [None, True, -3, 0.1, 2**80, "naïve \0", [1, [2, {"x": None}]], {}, "x" * 300_000],
    ids=lambda value: repr(value)[:20],
)
def test_plain_data(tmp_path: Path, value: object) -> None:
    reference = write(tmp_path, f"scenario = Scenario([lambda shared: {value!r}])")
    with Launcher(reference) as launcher:
        assert launcher.run(Job(Schedule(reference, 1))).results == [value]


@pytest.mark.parametrize(
    ("value", "kind"), [("{1}", "set"), ("object()", "object"), ("[b'x']", "list"), ("print", "builtin")]
)
def test_anything_else(tmp_path: Path, value: str, kind: str) -> None:
    reference = write(tmp_path, f"scenario = Scenario([lambda shared: 0, lambda shared: {value}])")
    with Launcher(reference) as launcher:
        with pytest.raises(UserError, match=f"T1 returned .*{kind}.*plain data"):
            launcher.run(Job(Schedule(reference, 2)))
        assert launcher._process is not None
        assert launcher._process.poll() is None


def test_a_plain_run_too(tmp_path: Path) -> None:
    reference = write(tmp_path, "scenario = Scenario([lambda shared: {1}])")
    with Launcher(reference) as launcher, pytest.raises(UserError, match=r"T0 returned .*plain data"):
        launcher.run(Job(Schedule(reference, 1), plain=True))
