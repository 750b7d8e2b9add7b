"""Programs as somebody might have them, in a folder where the command is started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from harness.cli.main import main

#: Two threads add; the first statement that a switch can hit is between the read and the write.
LOST = """
    import threading
    total = 0

    def add(n):
        global total
        seen = total
        total = successor(seen, n)

    def successor(seen, n):
        return seen + n

    def run(n):
        threads = [threading.Thread(target=add, args=(n,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert total == 2 * n, total
"""
Harness = Callable[..., tuple[int, str, str]]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """``program(name, source)`` writes a file into the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, source: str) -> str:
        (tmp_path / name).write_text(dedent(source))
        return name

    return write


@pytest.fixture
def harness(capsys: pytest.CaptureFixture[str]) -> Harness:
    """``harness("run", ...)`` is (exit status, standard output, standard error)."""

    def command(*words: str) -> tuple[int, str, str]:
        status = main(words)
        out, err = capsys.readouterr()
        return status, out, err

    return command
