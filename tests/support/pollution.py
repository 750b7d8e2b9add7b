"""Test files with a planted dependence between tests, and ``harness order`` asked about them."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from harness.cli.main import main

_HEAD = """
import gc, os
state, collected = [], []
class Cycle:
    def __init__(self):
        self.me = self
    def __del__(self):
        collected.append(1)
"""
#: Of each kind: what the culprits do, and what the last test says of it.
PLANTED = {
    "one": (["state.append(1)"], "assert state == []"),
    "pair": (["state.append(1)", "state.append(2)"], "assert len(state) < 2"),
    "ordered pair": (["state.append(1)", "state and state.append(2)"], "assert 2 not in state"),
    "garbage": (["Cycle()"], "before = len(collected)\n    assert state == []\n    assert len(collected) == before"),
}


#: Fewest runs.
FEW = "--repeats", "1", "--jobs", "1"


@dataclass(frozen=True)
class Planted:
    text: str
    culprits: tuple[str, ...]
    victim: str


def planted(kind: str, count: int, random: Random, name: str = "test_it.py") -> Planted:
    """``count`` tests; culprits and the one that fails at random places."""
    does, says = PLANTED[kind]
    victim = random.randrange(count // 2, count)
    places = sorted(random.sample(range(victim), len(does)))
    bodies = {**dict(zip(places, does, strict=True)), victim: says}
    text = _HEAD + "".join(f"def test_{i}():\n    {bodies.get(i, 'pass')}\n" for i in range(count))
    return Planted(text, tuple(f"{name}::test_{i}" for i in places), f"{name}::test_{victim}")


class Asked:
    """``harness order`` in a folder, as JSON. ``said`` is what it wrote to standard error, a line each."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def __call__(self, *arguments: str, store: str = "store", options: tuple[str, ...] = FEW) -> tuple[int, dict, list[str]]:
        words = ["order", "--json", "--store", str(self.folder / store), *options, "--", "pytest", "-q", *arguments]
        status = main(words)
        out, err = self.capsys.readouterr()
        return status, json.loads(out) if out else {}, err.splitlines()


def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **files: str) -> Asked:
    """In a folder of its own with these files, ``test_it`` meaning test_it.py; no plugins but pytest's own, for speed."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # where pytest is
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    return Asked(tmp_path, capsys)


def shell(command: str) -> str:
    """The same environment, as a user's shell has it."""
    return os.popen(f"{command} 2>&1").read()
