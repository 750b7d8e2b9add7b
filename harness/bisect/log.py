"""The log of a bisect: one line a step, on the disk before the next step begins.

The first line is the question, every other a step, or what was made of the answer. A line that a kill cut off is left
out. It is text, so that a step can be taken out of it, or corrected, before the bisect goes on.
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

from .question import Question
from .step import Step

FORMAT = 1
_HEAD = '{"bisect"'  # of which a kill may have left a part


class Log:
    """Opened, locked and read. Raises UserError, and changes nothing, where it can't be used."""

    def __init__(self, path: Path, question: Question | None = None) -> None:
        """With a question: made where there is none, refused where it is about another. Without: it must be there."""
        self.path = path
        self.steps: dict[str, Step] = {}
        self.script: str | None = None
        if path.exists() and not path.is_file():  # a device may have no end
            raise UserError(f"{path}: not a file that a log could be")
        with self._mistakes():
            if question is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._file: TextIO = open(path, "r+" if question is None else "a+", encoding="utf-8")  # noqa: SIM115
        try:
            self.question = self._read(question)
        except BaseException:
            self.close()
            raise

    def _read(self, question: Question | None) -> Question:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(f"{self.path}: in use by another bisect; wait for its end, or name another log") from None
        self._file.seek(0)
        try:
            text = self._file.read()
        except ValueError:
            raise UserError(f"{self.path}: not the log of a bisect") from None
        whole = text[: text.rfind("\n") + 1]
        if not whole:
            if question is None or text[: len(_HEAD)] != _HEAD[: len(text)]:
                raise UserError(f"{self.path}: not the log of a bisect")
            self._cut(0)
            self._write({"bisect": FORMAT, "question": question.to_json()})
            return question
        lines = whole.splitlines()
        known = self._question(lines[0])
        if question is not None and known.key != question.key:
            raise UserError(f"{self.path}: the log of another question ({known.kind} {known.target}); name another log")
        for number, line in enumerate(lines[1:], 2):
            self._line(known, number, line)
        if len(whole) < len(text):
            self._cut(len(whole.encode()))
        return known

    def _question(self, line: str) -> Question:
        try:
            data = json.loads(line)
            version, said = data["bisect"], data["question"]
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{self.path}: not the log of a bisect") from None
        if version != FORMAT:
            raise UserError(f"{self.path}: a log of format {version!r}; this version reads {FORMAT}")
        try:
            return Question.from_json(said)
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{self.path}, line 1: {error}") from None

    def _line(self, question: Question, number: int, line: str) -> None:
        try:
            data = json.loads(line)
            if set(data) == {"script"}:
                self.script = str(data["script"])
                return
            step = Step.from_json(data["step"])
            if step.torch not in question.releases:
                raise ValueError(f"torch {step.torch} is none of the releases that are asked about")
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{self.path}, line {number}: {error}; take the line out to have that release tested again") from None
        self.steps[step.torch] = step

    def add(self, step: Step) -> None:
        """On the disk when this returns. Raises UserError where it can't be."""
        self._write({"step": step.to_json()})
        self.steps[step.torch] = step

    def keep_script(self, text: str) -> None:
        self._write({"script": text})
        self.script = text

    def _write(self, data: dict[str, Any]) -> None:
        with self._mistakes():
            self._file.seek(0, os.SEEK_END)
            self._file.write(json.dumps(data) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def _cut(self, size: int) -> None:
        with self._mistakes():
            self._file.flush()
            os.ftruncate(self._file.fileno(), size)

    @contextmanager
    def _mistakes(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror}; what it has is kept, the same command goes on from there") from None

    def close(self) -> None:
        with suppress(OSError):  # what could not be written was reported when it was
            self._file.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
