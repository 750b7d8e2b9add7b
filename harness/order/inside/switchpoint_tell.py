"""What the plugin tells: lines of JSON in a file."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest


class Events:
    """Each line is whole in the file before the next thing happens. Tests may replace ``os`` and close files."""

    def __init__(self, path: str) -> None:
        self._path, self._pid = path, os.getpid()
        self._os = os.open, os.write, os.fstat, os.getpid
        self._about: dict[str, Any] = {}
        self._open()

    def _open(self) -> None:
        self._fd = self._os[0](self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)
        self._is = self._identity()

    def _identity(self) -> tuple[int, int]:
        """Another file may have the number of one that was closed."""
        try:
            found = self._os[2](self._fd)
        except OSError:
            return -1, -1
        return found.st_dev, found.st_ino

    def scout(self, place: str) -> None:
        """This is a fork of ours, which has its own end of the test to tell."""
        self._pid, self._about = self._os[3](), {"scout": place}

    def __call__(self, **event: Any) -> None:
        if self._os[3]() != self._pid:  # a test's fork
            return
        if self._identity() != self._is:
            self._open()
        self._os[1](self._fd, (json.dumps({**event, **self._about}) + "\n").encode())


def root_of(config: pytest.Config) -> str:
    return str(getattr(config, "rootpath", None) or getattr(config, "rootdir", ""))


def file_of(item: pytest.Item) -> str:
    return str(getattr(item, "path", None) or item.fspath)  # the first from pytest 7 on


def text(error: BaseException) -> str:
    try:
        return str(error).encode("utf-8", "backslashreplace").decode()
    except Exception as worse:
        return f"(its __str__ raised {type(worse).__name__})"


def where(excinfo: Any) -> str:
    """The innermost function that is not one of a library for assertions."""
    names = [entry.name for entry in excinfo.traceback if os.path.basename(os.path.dirname(str(entry.path))) != "unittest"]
    return names[-1] if names else ""


def own(file: str) -> bool:
    """Of the program under test, not of an installation."""
    if not os.path.isabs(file) or os.path.dirname(file) == os.path.dirname(os.path.abspath(__file__)):
        return False
    return "site-packages" not in file and not file.startswith(os.path.dirname(os.__file__) + os.sep)
