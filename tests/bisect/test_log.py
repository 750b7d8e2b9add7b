"""The log of a bisect: whole after a kill at any byte, refused where it can't be relied on."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness.bisect import Log, Question, Step
from harness.errors import UserError

QUESTION = Question("flag.warm", "scenario", ("9.0.0", "9.1.0", "9.2.0"), "3.11")
STEPS = [
    Step("9.0.0", "present", "found", outcome="error", signature="E: s [f]", token="race1,…", times=3, failed=3, same=3),
    Step("9.2.0", "absent", "a search that came to its end", others=("other: x",)),
]


def written(path: Path) -> str:
    with Log(path, QUESTION) as log:
        for step in STEPS:
            log.add(step)
        log.keep_script("print()\n")
    return path.read_text()


def test_all_comes_back(tmp_path):
    path = tmp_path / "deep" / "log"
    written(path)
    with Log(path, QUESTION) as log:
        assert list(log.steps.values()) == STEPS
        assert (log.question, log.script) == (QUESTION, "print()\n")
    with Log(path) as log:
        assert log.question == QUESTION


def test_cut_off_anywhere_it_has_the_whole_lines(tmp_path):
    text = written(tmp_path / "whole")
    path = tmp_path / "cut"
    ends = [index for index, sign in enumerate(text) if sign == "\n"]
    for size in [*range(12), *range(12, len(text), 97), *(end + by for end in ends for by in (-1, 0, 1))]:
        path.write_text(text[:size])
        with Log(path, QUESTION) as log:
            assert list(log.steps.values()) == STEPS[: max(0, text[:size].count("\n") - 1)]
            log.add(STEPS[0])
        with Log(path) as log:
            assert log.steps["9.0.0"] == STEPS[0]


def test_one_bisect_at_a_time(tmp_path):
    with Log(tmp_path / "log", QUESTION), pytest.raises(UserError, match="in use by another bisect"):
        Log(tmp_path / "log", QUESTION)
    Log(tmp_path / "log", QUESTION).close()


def test_a_log_of_another_question_is_refused_and_stays_as_it_is(tmp_path):
    before = written(tmp_path / "log")
    for change in ({"budget": 7}, {"digest": "x"}, {"releases": ("9.0.0", "9.1.0")}, {"python": "3.12"}):
        with pytest.raises(UserError, match="the log of another question"):
            Log(tmp_path / "log", dataclasses.replace(QUESTION, **change))
    assert (tmp_path / "log").read_text() == before


def test_where_environments_come_from_is_no_part_of_the_question(tmp_path):
    written(tmp_path / "log")
    with Log(tmp_path / "log", dataclasses.replace(QUESTION, index="https://example.org", left_out={"9.1.5": "yanked"})) as log:
        assert log.question == QUESTION  # and the log's own is the one that goes on


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('{"bisect": 1', '{"bisect": 7', "a log of format 7"),
        ('{"bisect": 1', '{"bysect": 1', "not the log of a bisect"),
        ('"present"', '"bad"', "line 2: result 'bad'"),
        ('"torch": "9.0.0"', '"torch": "8.0.0"', r"line 2: torch 8\.0\.0 is none of the releases"),
        ('"why": "found"', '"because": "found"', "line 2:"),
        ('"kind": "scenario"', '"kind": "guess"', "line 1:"),
    ],
)
def test_a_log_that_cannot_be_relied_on(tmp_path, before, after, says):
    text = written(tmp_path / "log")
    assert before in text
    (tmp_path / "log").write_text(text.replace(before, after, 1))
    with pytest.raises(UserError, match=says):
        Log(tmp_path / "log")


def test_nor_is_another_file(tmp_path):
    (tmp_path / "file").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "text").write_text("hello")
    for name in ("file", "text", "nothing"):
        with pytest.raises(UserError):
            Log(tmp_path / name)
    with pytest.raises(UserError, match="not the log of a bisect"):
        Log(tmp_path / "text", QUESTION)
    assert (tmp_path / "text").read_text() == "hello"


def test_what_is_no_file_is_not_read(tmp_path):
    for path in (Path("/dev/full"), tmp_path):
        with pytest.raises(UserError, match="not a file that a log could be"):
            Log(path, QUESTION)


def test_what_cannot_be_written_is_one_line_and_loses_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with Log(tmp_path / "log", QUESTION) as log:
        log.add(STEPS[0])
        monkeypatch.setattr("harness.journal.os.fsync", full)
        with pytest.raises(UserError, match="No space left on device; what it has is kept"):
            log.add(STEPS[1])
    with Log(tmp_path / "log") as log:
        assert log.steps["9.0.0"] == STEPS[0]
