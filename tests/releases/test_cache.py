"""Which environments there are; a broken one is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.errors import CannotTest, UserError
from harness.releases import cache, install


@pytest.fixture(autouse=True)
def envs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_ENVS", str(tmp_path / "envs"))
    return tmp_path / "envs"


def make(torch: str, python: str, ready: object = {"source": "cpu"}) -> Path:
    path = cache.path_of(torch, python)
    (path / "bin").mkdir(parents=True)
    (path / "bin" / "python").write_text("")
    if ready is not None:
        (path / "ready.json").write_text(json.dumps(ready))
    return path


def test_by_release_and_python():
    make("2.9.1", "3.11")
    make("2.12.1", "3.12")
    make("2.12.1", "3.11")
    assert [(e.torch, e.python) for e in cache.installed()] == [("2.9.1", "3.11"), ("2.12.1", "3.11"), ("2.12.1", "3.12")]
    found = cache.find("2.12.1", "3.12")
    assert found is not None
    assert found.interpreter.endswith("torch-2.12.1-py3.12/bin/python")
    assert cache.find("2.13.0", "3.11") is None


@pytest.mark.parametrize("ready", [None, [], {}, {"torch": "2.9.1"}])
def test_one_that_was_not_finished_is_not_there(ready):
    make("2.9.1", "3.11", ready)
    assert cache.installed() == []
    assert cache.find("2.9.1", "3.11") is None


def test_removed_broken_or_not(envs: Path):
    make("2.9.1", "3.11", None)
    make("2.9.1", "3.12")
    make("2.9.10", "3.12")
    assert cache.remove("2.9.1") == 2
    assert [e.torch for e in cache.installed()] == ["2.9.10"]
    assert cache.remove("2.9.1") == 0


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["env", "add", "two"], "'two' is no version of torch"),
        (["env", "add"], "say which release"),
        (["env", "list", "2.9.1"], "takes no version"),
        (["env", "remove", "2.9.1"], "there is no environment of torch 2.9.1"),
        (["env", "add", "2.9.1", "--source", "full", "--index", "https://example.org"], "an index is for source cpu"),
        (["find", "flag.warm", "--torch", "2.9.1"], "make one: harness env add 2.9.1"),
        (["find", "flag.warm", "--torch", "2.9.1", "--python", "3.12"], "harness env add 2.9.1 --python 3.12"),
        (["find", "flag.warm", "--python", "3.12"], "--python: of which release?"),
    ],
)
def test_mistakes_are_one_line(asked, says, capsys):
    assert main(asked) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_no_room_is_said_before_anything_is_fetched(monkeypatch):
    monkeypatch.setitem(install._BYTES, "cpu", 1e18)
    with pytest.raises(UserError, match="GB free; an environment"):
        install.add("2.9.1", source="cpu")
    assert cache.installed() == []


def test_empty_list(capsys):
    assert main(["env", "list"]) == 0
    assert "no environments in" in capsys.readouterr().out


def test_a_torch_that_takes_its_interpreter_with_it_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text("#!/bin/sh\nkill -SEGV $$\n")
    python.chmod(0o755)
    with pytest.raises(CannotTest, match="does not import: killed by signal 11"):
        install._check(tmp_path, "2.0.0")
