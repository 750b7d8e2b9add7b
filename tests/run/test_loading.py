"""A scenario that cannot be loaded is its author's mistake: one line says what and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.programs import processes_of, write

from harness.errors import UserError
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule

GOOD = "scenario = Scenario(bodies=[lambda shared: 1])\n"


def mistake(reference: str) -> str:
    with pytest.raises(UserError) as caught:
        Launcher(reference)
    assert len(reference) < 20 or processes_of(reference) == []
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("raise RuntimeError('no config')", "raised while being imported: RuntimeError: no config"),
        ("import nowhere_to_be_found", "No module named 'nowhere_to_be_found'"),
        ("sys.exit('usage: case.py FILE')", "usage: case.py FILE"),
        ("scenario = Scenario(bodies=[])", "at least one thread body"),
        ("scenario = Scenario(bodies=[print], axes={'depth': []})", "has no value"),
        ("scenario = Scenario(bodies=[print], axes={'first': [1]})", "not a name an axis can have"),
        ("scenario = Scenario(bodies=[print], threads=(8, 2))", "fewest first"),
        ("other = Scenario(bodies=[print])", "no scenario 'scenario' in it"),
        (
            "def prepare(): raise OSError('no cache')\nscenario = Scenario([print], prepare=prepare)",
            "no cache",
        ),
        ("scenario = Scenario([print], fine=['nowhere_to_be_found'])", "nowhere_to_be_found"),
        ("scenario = Scenario([print], modules=['nowhere_to_be_found'])", "nowhere_to_be_found"),
        ("scenario = Scenario([print], expect='wrong vlaue')", "expect='wrong vlaue': one of crash"),
        ("def body(): pass\nscenario = Scenario([print, body])", "body 1: body() is called with (what setup returned)"),
        ("scenario = Scenario([print], setup=lambda: 1)", "setup: <lambda>() is called with (axes)"),
        ("scenario = Scenario([print], check=lambda s: 1)", "check: <lambda>(s) is called with"),
        ("scenario = Scenario([print], axes={'depth': [{1, 2}]})", "a value is not plain data"),
        ("scenario = Scenario([print], seconds=0)", "seconds=0: a number from 0.01"),
        ("scenario = Scenario(print)", "bodies: a scenario needs a list"),
        ("scenario = Scenario([1])", "body 0 is a int, not a function"),
        (
            "def prepare(): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
            "scenario = Scenario([print], prepare=prepare)",
            "started a thread",
        ),
    ],
)
def test_mistakes_in_a_file(tmp_path: Path, source: str, says: str) -> None:
    assert says in mistake(write(tmp_path, source))


def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    assert "broken.py, line 2: " in mistake(f"{tmp_path}/broken.py:scenario")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x = 1\0", b"# coding: nonsense\n"])
def test_what_is_no_python(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.py").write_bytes(content)
    assert "broken.py" in mistake(f"{tmp_path}/broken.py")


def test_a_name_is_needed_where_there_are_two(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + "second = Scenario(bodies=[print])").rpartition(":")[0]
    assert "defines 2 scenarios" in mistake(path)
    with Launcher(path + ":second") as launcher:
        assert launcher.about["bodies"] == 1


@pytest.mark.parametrize(
    "reference", ["nothing", "", "/no/file.py", "no.module.here:x", "flag.warm:x", "a b:c", ":"]
)
def test_unknown_references(reference: str) -> None:
    assert mistake(reference)


def test_a_module_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    write(tmp_path / "package", GOOD, "inside")
    monkeypatch.chdir(tmp_path)
    with Launcher("package.inside:scenario") as launcher:
        assert launcher.run(Job(Schedule("package.inside:scenario", 1))).results == [1]


def test_a_file_imports_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("VALUE = 41\n")
    reference = write(
        tmp_path, "from neighbour import VALUE\nscenario = Scenario([lambda shared: VALUE + 1])"
    )
    with Launcher(reference) as launcher:
        assert launcher.run(Job(Schedule(reference, 1))).results == [42]


def test_a_neighbour_imported_late(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("VALUE = 41\n")
    reference = write(
        tmp_path,
        """
        def body(shared):
            from neighbour import VALUE
            return VALUE
        scenario = Scenario([body])
    """,
    )
    with Launcher(reference) as launcher:
        assert launcher.run(Job(Schedule(reference, 1))).results == [41]
