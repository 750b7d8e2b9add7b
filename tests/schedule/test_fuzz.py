"""2,000 mutated tokens and 2,000 mutated files: one line each, exit status 2, never a traceback."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pytest
from support.schedules import EXAMPLE, mutated

from harness.cli import replay_
from harness.cli.main import main
from harness.errors import UserError
from harness.schedule import from_token, read_file, to_token, write_file

COUNT = 2000


class Stub:
    """In place of the launcher: what is well-formed ends here."""

    reached = 0

    def __init__(self, reference: str, **_: Any) -> None:
        Stub.reached += 1
        assert "\0" not in reference
        reference.encode()
        raise UserError(f"unknown scenario {reference!r}")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> type[Stub]:
    monkeypatch.setattr(Stub, "reached", 0)
    monkeypatch.setattr(replay_, "Launcher", Stub)
    return Stub


def tokens(signed: bool) -> list[str]:
    random = Random(f"tokens {signed}")
    token = to_token(EXAMPLE)
    if not signed:
        return [mutated(token, random) for _ in range(COUNT // 2)]
    body = token.rpartition(",")[0]
    texts = [mutated(body, random) for _ in range(COUNT // 2)]
    return [f"{text},{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:6]}" for text in texts]


def replay(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["replay", argument])
    out, err = capsys.readouterr()
    assert (status, out) == (2, ""), argument
    assert err.startswith("harness: ")
    assert err.count("\n") == 1, argument
    assert len(err) <= 700
    assert "Traceback" not in err


@pytest.mark.parametrize("signed", [False, True])
def test_mutated_tokens(signed: bool) -> None:
    accepted = 0
    for token in tokens(signed):
        try:
            schedule = from_token(token)
        except UserError as error:
            assert str(error)
            continue
        accepted += 1
        assert to_token(schedule) == token.strip()
    assert accepted < COUNT // 4


@pytest.mark.parametrize("signed", [False, True])
def test_mutated_tokens_on_the_command_line(
    stub: type[Stub],
    capsys: pytest.CaptureFixture[str],
    signed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for token in tokens(signed):
        replay(token, capsys)
    assert stub.reached < COUNT // 4


def test_mutated_files(stub: type[Stub], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    write_file(path, EXAMPLE, outcome="error", original=EXAMPLE.to_json())
    text, random = path.read_text(), Random("files")
    accepted = 0
    for _ in range(COUNT):
        path.write_text(mutated(text, random), encoding="utf-8", errors="surrogatepass")
        try:
            schedule, data = read_file(path)
        except UserError as error:
            assert str(path) in str(error)
        else:
            accepted += 1
            assert json.dumps(schedule.to_json()) == json.dumps(data["schedule"])
        replay(str(path), capsys)
    assert 0 < accepted == stub.reached < COUNT


def test_foreign_data(stub: type[Stub], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    random = Random("noise")
    for name in ("a.json", "b"):
        for size in (0, 1, 4096):
            path = tmp_path / name
            path.write_bytes(random.randbytes(size))
            replay(str(path), capsys)
    for text in (
        "",
        " ",
        "race1",
        "race1,",
        "race",
        "flag.warm",
        str(tmp_path),
        "x" * 5000,
        "race1," + "x" * 5000,
        "race1," + "/x" * 5000,
        "nothing.json",
        "\0.json",
        "race1,\0",
        "../../etc/passwd",
        "-x",
        "--json",
    ):
        replay(text, capsys)
    assert stub.reached == 0


def test_a_long_token_is_no_file_name(stub: type[Stub], capsys: pytest.CaptureFixture[str]) -> None:
    long = EXAMPLE.with_directives(EXAMPLE.directives * 200)
    replay(to_token(long), capsys)
    assert stub.reached == 1


def test_the_fuzzing_can_fail(
    stub: type[Stub], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(text: str) -> NoReturn:
        raise KeyError(text)

    monkeypatch.setattr(replay_.shared, "schedule_from", broken)
    with pytest.raises(KeyError):
        replay(to_token(EXAMPLE), capsys)
