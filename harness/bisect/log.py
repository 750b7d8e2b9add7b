"""The log of a bisect: one line a step, on the disk before the next step begins.

The first line is the question, every other a step, or what was made of the answer. It is text, so that a step can be taken
out of it, or corrected, before the bisect goes on.
"""

from __future__ import annotations

import json
from pathlib import Path

from harness.errors import UserError
from harness.journal import Journal

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
        self._journal = Journal(path, user="bisect", make=question is not None)
        try:
            self.question = self._read(question)
        except BaseException:
            self.close()
            raise

    def _read(self, question: Question | None) -> Question:
        text, lines = self._journal.text, self._journal.lines
        if not lines:
            if question is None or text[: len(_HEAD)] != _HEAD[: len(text)]:
                raise UserError(f"{self.path}: not the log of a bisect")
            self._journal.cut("")
            self._journal.append({"bisect": FORMAT, "question": question.to_json()})
            return question
        known = self._question(lines[0])
        if question is not None and known.key != question.key:
            raise UserError(f"{self.path}: the log of another question ({known.kind} {known.target}); name another log")
        for number, line in enumerate(lines[1:], 2):
            self._line(known, number, line)
        if len(self._journal.whole) < len(text):
            self._journal.cut(self._journal.whole)
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
        self._journal.append({"step": step.to_json()})
        self.steps[step.torch] = step

    def keep_script(self, text: str) -> None:
        self._journal.append({"script": text})
        self.script = text

    def close(self) -> None:
        self._journal.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
