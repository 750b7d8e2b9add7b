"""Scenarios of other packages are found by their name, installed or not."""

from __future__ import annotations

import importlib.metadata

import pytest

from harness.cli.main import main
from harness.errors import UserError
from harness.scenario import registered
from harness.scenario.load import load


def test_the_trainers_scenario_is_registered_by_the_checkout() -> None:
    assert registered.registered()["trainer.threads"] == "dflash.scenarios.trainer_threads:SCENARIO"
    assert registered.resolve("trainer.threads") == "dflash.scenarios.trainer_threads:SCENARIO"
    assert registered.resolve("flag.warm") == "flag.warm"


def test_an_entry_point_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint("other.race", "examples_of.theirs:race", registered.GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    assert registered.resolve("other.race") == "examples_of.theirs:race"
    with pytest.raises(UserError, match="examples_of.theirs: cannot be imported"):
        load("other.race")


def test_unknown_names_are_told_what_there_is() -> None:
    with pytest.raises(UserError, match=r"unknown scenario 'trainer.thread'; did you mean trainer\.threads\?"):
        load("trainer.thread")
    with pytest.raises(UserError, match=r"unknown scenario 'nothing': .*, trainer\.threads\)"):
        load("nothing")


def test_it_is_listed_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "trainer.threads" in line]
    assert line.split(maxsplit=1)[1].startswith("The story's program")
