"""The log: whole after a kill at any byte; refused where it is of something else; begun anew where the program changed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.order.log import Log, Question, digest_of
from harness.order.trial import Collected, Result, Trial, numbers, ranges

QUESTION = Question(("pytest", "tests"), "/project", "", 300.0, {})
RUNS = {
    Trial(9, ()): Result("passed", seconds=0.3),
    Trial(9, (0, 1, 2, 5, 4), "at=test_x.py:3#1,frozen", 1): Result("failed", "E: s", "E: long", scouted=(("t", "x:3#1", "E"),)),
    Trial(9, (3,), imported=True): Result("skipped"),
    Trial(9, (3,), command=("pytest", "a b")): Result("not reached", by="t (SIGKILL)", ran=("a", "b"), missing=("c",)),
}


def collected(file: Path) -> Collected:
    return Collected((("t.py::a", "/t.py"),), (("t.py::a", "E: s", "E"),), "", "/", "python", ("tests",), ("tests",), ("x",), {str(file): digest_of(str(file))})


def written(path: Path, file: Path) -> str:
    with Log(path, QUESTION) as log:
        log.add_broken("t", "SIGKILL")
        log.add_collected(collected(file))
        for trial, result in RUNS.items():
            log.add(trial, result)
    return path.read_text()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "program.py"
    made.write_text("1")
    return made


def test_cut_off_anywhere_it_has_the_whole_lines(tmp_path: Path, file: Path) -> None:
    text = written(tmp_path / "deep" / "log", file)
    path = tmp_path / "cut"
    ends = [index for index, sign in enumerate(text) if sign == "\n"]
    for size in [*range(12), *range(12, len(text), 97), *(end + by for end in ends for by in (-1, 0, 1))]:
        path.write_text(text[:size])
        lines = text[:size].count("\n")
        with Log(path, QUESTION) as log:
            assert (log.broken == {"t": "SIGKILL"}) == (lines > 1)
            assert log.collected == (collected(file) if lines > 2 else None)
            assert log.results == dict(list(RUNS.items())[: max(0, lines - 3)])
            log.add(Trial(1, (0,)), Result("passed"))
        with Log(path, QUESTION) as log:
            assert Trial(1, (0,)) in log.results


def test_a_changed_program_begins_anew(tmp_path: Path, file: Path) -> None:
    written(tmp_path / "log", file)
    for change in (lambda: file.write_text("2"), file.unlink):
        change()
        with Log(tmp_path / "log", QUESTION) as log:
            assert log.again == f"{file} is not what it was"
            assert (log.collected, log.results, log.broken) == (None, {}, {})
            file.write_text("1")
            log.add_collected(collected(file))
    with Log(tmp_path / "log", QUESTION) as log:
        assert (log.again, log.collected) == ("", collected(file))
    with Log(tmp_path / "log", QUESTION, fresh=True) as log:
        assert log.collected is None


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('{"order": 1', '{"order": 7', "a log of format 7"),
        ('{"order": 1', '{"odder": 1', "not the log of a search"),
        ('"passed"', '"fine"', "line 4: outcome 'fine'"),
        ('"before": ""', '"before": "x"', "line 4: 'x'"),
        ('"result"', '"results"', "line 4:"),
        ('"/project"', '"/other"', "the log of another question"),
    ],
)
def test_a_log_that_cannot_be_relied_on_stays_as_it_is(tmp_path: Path, file: Path, before: str, after: str, says: str) -> None:
    text = written(tmp_path / "log", file)
    assert before in text
    (tmp_path / "log").write_text(text.replace(before, after, 1))
    with pytest.raises(UserError, match=says):
        Log(tmp_path / "log", QUESTION)
    assert (tmp_path / "log").read_text() == text.replace(before, after, 1)
    if "line" in says:
        with Log(tmp_path / "log", QUESTION, fresh=True) as log:
            assert log.results == {}


def test_one_at_a_time(tmp_path: Path) -> None:
    with Log(tmp_path / "log", QUESTION), pytest.raises(UserError, match="in use by another search"):
        Log(tmp_path / "log", QUESTION)
    with pytest.raises(UserError, match="another question"):
        Log(tmp_path / "log", dataclasses.replace(QUESTION, test="t"))


@pytest.mark.parametrize("these", [(), (0,), (0, 1, 2), (2, 1, 0), (0, 2, 3, 9), tuple(range(300))])
def test_numbers_as_ranges(these: tuple[int, ...]) -> None:
    assert numbers(ranges(these)) == these
