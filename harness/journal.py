"""A text file of JSON lines, each on the disk before the next thing begins; one process at a time has it open.

A line that a kill cut off is left out.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from harness.errors import UserError


class Journal:
    """Opened and locked; ``lines`` are the whole ones. Raises UserError, and changes nothing, where it can't be used.

    ``user`` is who else may have it open, ``make`` whether it is made where there is none.
    """

    def __init__(self, path: Path, *, user: str, make: bool) -> None:
        self.path = path
        if path.exists() and not path.is_file():  # a device may have no end
            raise UserError(f"{path}: not a file that a log could be")
        with self._mistakes():
            if make:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._file: TextIO = open(path, "a+" if make else "r+", encoding="utf-8")  # noqa: SIM115
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.seek(0)
            self.text = self._file.read()
        except OSError:
            self.close()
            raise UserError(f"{path}: in use by another {user}; wait for its end, or name another log") from None
        except ValueError:
            self.close()
            raise UserError(f"{path}: not the log of a {user}") from None
        self.whole = self.text[: self.text.rfind("\n") + 1]
        self.lines = self.whole.splitlines()

    def cut(self, text: str) -> None:
        """Keep only this beginning of it."""
        with self._mistakes():
            self._file.flush()
            os.ftruncate(self._file.fileno(), len(text.encode()))

    def append(self, data: dict[str, Any]) -> None:
        """On the disk when this returns. Raises UserError where it can't be."""
        with self._mistakes():
            self._file.seek(0, os.SEEK_END)
            self._file.write(json.dumps(data) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    @contextmanager
    def _mistakes(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror}; what it has is kept, the same command goes on from there") from None

    def close(self) -> None:
        with suppress(OSError):  # what could not be written was reported when it was
            self._file.close()
