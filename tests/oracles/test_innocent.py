"""Programs without a race give no alarm, by any oracle."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from harness.run.launch import Launcher
from harness.schedule import Schedule, to_token
from harness.search import explore

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "innocent"
TORCH = ("cold_compiles", "warm_calls")
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
PROGRAMS = [pytest.param(name, marks=needs_torch) if name in TORCH else name for name in NAMES]


def no_alarm(name: str, schedules: int) -> None:
    """Search after search, from other seeds, until so many were run."""
    reference = str(FOLDER / f"{name}.py")
    run = seed = 0
    with Launcher(reference) as launcher:
        while run < schedules:
            found = explore(
                launcher, Schedule(reference, launcher.about["threads"][0]), budget=max(10, schedules - run), seed=seed
            )
            assert not found.failures, (to_token(found.failures[0][0]), found.failures[0][1].message)
            assert found.schedules > len(found.controls)
            run += found.schedules
            seed += 1


def test_there_are_enough() -> None:
    assert len(NAMES) >= 6
    assert set(TORCH) < set(NAMES)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_alarm(name: str) -> None:
    no_alarm(name, 12 if name in TORCH else 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_alarm_in_a_thousand(name: str) -> None:
    no_alarm(name, 1000)
