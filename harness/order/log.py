"""The log of a search: the question, what pytest collected, then one line a run. The finding follows from these.

It is begun anew where a file of the program is no longer what it was: results of another program say nothing.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.journal import Journal

from .trial import Collected, Result, Trial

FORMAT = 1
_HEAD = '{"order"'  # of which a kill may have left a part


@dataclass(frozen=True)
class Question:
    """argv, folder  the user's command, and where
    test          the one that is asked about, empty: the first that depends on others
    seconds       the time of one test
    environment   variables that pytest and Python read
    """

    argv: tuple[str, ...]
    folder: str
    test: str
    seconds: float
    environment: dict[str, str]

    @property
    def key(self) -> str:
        """16 hexadecimal digits."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "argv": list(self.argv)}


class Log:
    """Raises UserError, and changes nothing, where it can't be used or is about another question."""

    def __init__(self, path: Path, question: Question, *, fresh: bool = False) -> None:
        self.path, self.question = path, question
        self.collected: Collected | None = None
        self.broken: dict[str, str] = {}
        self.results: dict[Trial, Result] = {}
        self.again = ""  #: why it was begun anew
        self._journal = Journal(path, user="search", make=True)
        try:
            self._read(fresh)
        except BaseException:
            self._journal.close()
            raise

    def _read(self, fresh: bool) -> None:
        text, lines = self._journal.text, self._journal.lines
        if not lines:
            if text[: len(_HEAD)] != _HEAD[: len(text)]:
                raise UserError(f"{self.path}: not the log of a search for an order")
            self._begin()
            return
        try:
            head = json.loads(lines[0])
            version, said = head["order"], head["question"]
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{self.path}: not the log of a search for an order") from None
        if version != FORMAT:
            raise UserError(f"{self.path}: a log of format {version!r}; this version reads {FORMAT}")
        if said != self.question.to_json():
            raise UserError(f"{self.path}: the log of another question; name another store")
        for number, line in enumerate([] if fresh else lines[1:], 2):
            try:
                self._line(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(f"{self.path}, line {number}: {error}; take the line out, or begin anew with --fresh") from None
        changed = "" if self.collected is None else changed_file(self.collected.files)
        if fresh or changed:
            self.again = f"{changed} is not what it was" if changed else "--fresh"
            self._begin()
        elif len(self._journal.whole) < len(text):
            self._journal.cut(self._journal.whole)

    def _begin(self) -> None:
        self.collected = None
        self.results, self.broken = {}, {}
        self._journal.cut("")
        self._journal.append({"order": FORMAT, "question": self.question.to_json()})

    def _line(self, data: dict[str, Any]) -> None:
        if "collected" in data:
            self.collected = Collected.from_json(data["collected"])
        elif "broken" in data:
            self.broken.update(data["broken"])
        else:
            self.results[Trial.from_json(data["run"])] = Result.from_json(data["result"])

    def add_collected(self, collected: Collected) -> None:
        self._journal.append({"collected": collected.to_json()})
        self.collected = collected

    def add_broken(self, test: str, how: str) -> None:
        """A test that ends the process before the one that is looked at: the run was of use for that alone."""
        self._journal.append({"broken": {test: how}})
        self.broken[test] = how

    def add(self, trial: Trial, result: Result) -> None:
        """On the disk when this returns."""
        self._journal.append({"run": trial.to_json(), "result": result.to_json()})
        self.results[trial] = result

    def close(self) -> None:
        self._journal.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def digest_of(path: str) -> str:
    """Empty where there is no such file."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def changed_file(files: dict[str, str]) -> str:
    """The first that has another digest."""
    return next((path for path, digest in files.items() if digest_of(path) != digest), "")
