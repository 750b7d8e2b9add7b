"""A schedule as a JSON file: round trip, format version, all or nothing."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from support.schedules import EXAMPLE, schedules

from harness.errors import UserError
from harness.schedule import Schedule, read_file, write_file


@given(schedules())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_there_and_back(tmp_path: Path, schedule: Schedule) -> None:
    path = tmp_path / "s.json"
    write_file(path, schedule, outcome="error")
    read, about = read_file(path)
    assert read == schedule
    assert about["outcome"] == "error"


@given(schedules())
@settings(max_examples=100, deadline=None)
def test_json_there_and_back(schedule: Schedule) -> None:
    assert Schedule.from_json(json.loads(json.dumps(schedule.to_json()))) == schedule


def test_the_file_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "s.json"
    write_file(path, EXAMPLE, token="t")
    data = json.loads(path.read_text())
    assert data["format"] == 1
    assert data["token"] == "t"
    assert data["schedule"]["mode"] == "free"
    assert data["schedule"]["directives"][0] == {
        "thread": "T0",
        "point": "write:package.module.STATE",
        "n": 1,
        "action": "T1",
    }
    assert path.read_text().endswith("\n")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    write_file(path, EXAMPLE)
    before = path.read_text()
    with pytest.raises(TypeError):
        write_file(path, EXAMPLE, late=object())
    assert path.read_text() == before
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_full_disk_is_one_line_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.json"
    write_file(path, EXAMPLE)
    before = path.read_text()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"s\.json: No space left"):
        write_file(path, EXAMPLE, late=1)
    assert path.read_text() == before
    assert os.listdir(tmp_path) == ["s.json"]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_the_mode_is_that_of_any_new_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_file(tmp_path / "s.json", EXAMPLE)
    finally:
        os.umask(before)
    assert (tmp_path / "s.json").stat().st_mode & 0o777 == 0o666 & ~mask


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(UserError, match="not a file"):
            write_file(path, EXAMPLE)
    assert (tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_the_file_appears_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.json"
    seen: list[Any] = []
    replace = os.replace

    def spy(old: str, new: Path) -> None:
        seen.append((path.exists(), json.loads(Path(old).read_text())["schedule"]))
        replace(old, new)

    monkeypatch.setattr(os, "replace", spy)
    write_file(path, EXAMPLE)
    assert seen == [(False, EXAMPLE.to_json())]


def test_a_place_that_cannot_be_written_is_a_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file"):
        write_file(tmp_path / "file" / "s.json", EXAMPLE)


@pytest.mark.parametrize("format_", [0, 2, "1", None, [1]])
def test_another_format_version_is_named(tmp_path: Path, format_: Any) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"format": format_, "schedule": EXAMPLE.to_json()}))
    with pytest.raises(UserError, match="format") as caught:
        read_file(path)
    assert repr(format_) in str(caught.value)


def changed(**changes: Any) -> dict[str, Any]:
    return {**EXAMPLE.to_json(), **changes}


@pytest.mark.parametrize(
    "schedule",
    [
        None,
        [],
        7,
        "race1",
        {},
        changed(extra=1),
        changed(threads="2"),
        changed(threads=True),
        changed(threads=0),
        changed(threads=2.0),
        changed(first=3),
        changed(mode="fast"),
        changed(axes=[]),
        changed(directives={}),
        changed(directives=[7]),
        changed(directives=[{}]),
        changed(scenario=None),
        changed(scenario="a\0.py"),
        changed(directives=[{"thread": "T0", "point": "end", "n": "1", "action": "T1"}]),
        changed(directives=[{"thread": "T0", "point": "end", "n": True, "action": "T1"}]),
        changed(directives=[{"thread": "T0", "point": None, "n": 1, "action": "T1"}]),
        changed(directives=[{"thread": "T0", "point": "end", "n": 1, "action": "run"}]),
        changed(directives=[{"thread": "T0", "point": "end", "n": 1, "action": "T1", "more": 1}]),
        changed(axes={"threads": 3}),
        changed(axes={"a,b": 3}),
        changed(axes={"": 3}),
        changed(axes={"first": 3}),
    ],
)
def test_malformed_schedules_are_refused(tmp_path: Path, schedule: Any) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"format": 1, "schedule": schedule}))
    with pytest.raises(UserError, match=r"malformed schedule|not a schedule file"):
        read_file(path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[1]", b'"x"', b"[" * 100_000, b"nul"])
def test_what_is_no_json_object_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match="not a schedule file"):
        read_file(path)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(UserError, match=str(tmp_path)):
            read_file(path)
