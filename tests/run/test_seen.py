"""The values that a cause shows: what was there, or that it is not known; never unset for what is set."""

from __future__ import annotations

import ctypes
import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.programs import write

from harness.cli.main import main
from harness.run.seen import seen


class Slots:
    __slots__ = ("empty", "full")

    def __init__(self) -> None:
        self.full = 1


class Plain:
    here = 2


class Asks:
    @property
    def value(self) -> int:
        raise AssertionError("code of the program's was run")


class Forwards:
    def __getattr__(self, name: str) -> int:
        raise AssertionError("code of the program's was run")


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int)]


@pytest.mark.parametrize(
    ("make", "name", "says"),
    [
        (lambda: multiprocessing.Value("i", 7), "value", "7"),
        (lambda: multiprocessing.Value("d", 0.5, lock=False), "value", "0.5"),
        (lambda: multiprocessing.Array("c", b"text"), "value", "b'text'"),
        (lambda: multiprocessing.Value(Point, 3), "x", "3"),
        (lambda: Slots(), "full", "1"),
        (lambda: Slots(), "empty", "unset"),
        (lambda: Plain(), "here", "2"),
        (lambda: Plain(), "gone", "unset"),
        (lambda: Asks(), "value", "not known"),
        (lambda: Forwards(), "value", "not known"),
    ],
)
def test_a_value(make: Callable[[], Any], name: str, says: str) -> None:
    assert seen(make(), name) == says


def test_a_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reference = write(
        tmp_path,
        """
        import multiprocessing
        def add(counter):
            seen = counter.value
            counter.value = abs(seen) + 1
        def check(counter, results):
            assert counter.value == 2
        scenario = Scenario([add, add], setup=lambda axes: multiprocessing.Value("i", 0), check=check)
        """,
    )
    assert main(["find", reference, "--json", "--budget", "40"]) == 1
    cause = json.loads(capsys.readouterr().out)["cause"]
    assert "unset" not in cause
    assert " 1" in cause
