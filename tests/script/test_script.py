"""A script made from a schedule fails in the same way without this project, and not without its order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.failing import (
    BOUGHT,
    COLLECTED,
    FOREIGN,
    HALF,
    LOCKED,
    LOST,
    MASKED,
    SAVED,
    STRANDED,
    WARM,
    launcher,
)
from support.inline import at
from support.programs import write

from harness.cli.main import main
from harness.errors import UserError
from harness.run.job import Job
from harness.schedule import Schedule, to_token
from harness.script import make

#: Runs the file at argv[1] where this project cannot be imported.
_WITHOUT = "import sys, runpy; sys.modules['harness'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"


def script(schedule: Schedule, folder: Path) -> Path:
    with launcher(schedule) as runner:
        text = make(schedule, runner.run(Job(schedule)), runner.about, sys.executable)
    path = folder / "reproduce.py"
    path.write_text(text)
    return path


def status(path: Path, folder: Path) -> tuple[int, str]:
    """In a folder of its own."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run([sys.executable, "-I", "-c", _WITHOUT, str(path)], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def without_order(path: Path) -> Path:
    text = path.read_text()
    other = path.with_name("without.py")
    other.write_text(text.replace("class _Race:", "_race_data['directives'].clear()\n\n\nclass _Race:", 1))
    return other


@pytest.mark.parametrize("schedule", [LOST, SAVED, BOUGHT, HALF], ids=lambda s: Path(s.scenario).stem)
def test_it_fails_twenty_times_of_twenty(schedule: Schedule, tmp_path: Path) -> None:
    path = script(schedule, tmp_path)
    answers = [status(path, tmp_path / "elsewhere") for _ in range(20)]
    assert [code for code, _ in answers] == [1] * 20, answers[0][1]
    assert all("REPRODUCED:" in text for _, text in answers)
    code, text = status(without_order(path), tmp_path / "elsewhere")
    assert (code, text.strip().splitlines()[-1]) == (0, "NOT REPRODUCED")


def test_a_collection_at_a_point(tmp_path: Path) -> None:
    source = """
import weakref
class Node: pass
def plant(shared):
    node = Node(); node.self = node
    shared["ref"] = weakref.ref(node)
    del node
    marker("planted")
    assert shared["ref"]() is not None, "collected at once"
scenario = Scenario([plant], setup=lambda axes: {})
"""
    schedule = Schedule(write(tmp_path, source, "plants"), 1, directives=(at("T0", "marker:planted", 0),))
    path = script(schedule, tmp_path)
    code, text = status(path, tmp_path / "elsewhere")
    assert code == 1, text
    assert "collected at once" in text
    assert status(without_order(path), tmp_path / "elsewhere")[0] == 0


def test_a_program_that_changed_is_not_aligned(tmp_path: Path) -> None:
    path = script(SAVED, tmp_path)
    path.write_text(path.read_text().replace("quietly(", "silently(").replace("(quietly, quietly)", "(silently, silently)"))
    code, text = status(path, tmp_path / "elsewhere")
    assert code == 2, text
    assert "NOT ALIGNED" in text


def test_another_failure_is_not_the_same(tmp_path: Path) -> None:
    path = script(LOST, tmp_path)
    path.write_text(path.read_text().replace("additions, but counter.value is {", "additions and counter.value is {"))
    code, text = status(path, tmp_path / "elsewhere")
    assert code == 0, text
    assert "NOT REPRODUCED: another failure happened" in text


FREE = Schedule(SAVED.scenario, 2, free=True, directives=SAVED.directives)


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (LOCKED, "'deadlock'"),
        (COLLECTED, "does not see locks"),
        (FREE, "--mode free"),
        (Schedule(LOST.scenario, 2), "does not fail here"),
    ],
)
def test_what_it_cannot_is_said(schedule: Schedule, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        script(schedule, tmp_path)


def test_an_import_of_a_third_package(tmp_path: Path) -> None:
    source = "import packaging\ndef body(shared):\n    raise ValueError\nscenario = Scenario([body])\n"
    with pytest.raises(UserError, match="imports packaging: a script has torch and the standard library only"):
        script(Schedule(write(tmp_path, source), 1), tmp_path)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "made.py"
    assert main(["script", to_token(LOST), "-o", str(path), "--times", "2"]) == 0
    assert "2 of 2 runs failed in the same way" in capsys.readouterr().out
    assert main(["script", to_token(LOCKED), "-o", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def _times(schedule: Schedule, times: int, folder: Path) -> None:
    path = script(schedule, folder)
    assert "import harness" not in path.read_text()
    for _ in range(times):
        code, text = status(path, folder / "elsewhere")
        assert code == 1, text
    code, text = status(without_order(path), folder / "elsewhere")
    assert code == 0, text


def test_the_story(tmp_path: Path) -> None:
    _times(WARM, 1, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", [WARM, MASKED, STRANDED, FOREIGN], ids=lambda s: s.scenario)
def test_torch_twenty_times_of_twenty(schedule: Schedule, tmp_path: Path) -> None:
    _times(schedule, 20, tmp_path)
