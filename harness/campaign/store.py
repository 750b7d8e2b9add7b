"""Where a campaign's results are kept: one SQLite file, from the standard library.

SQLite rather than a format of our own: a transaction is whole or absent after ``kill -9`` and after a power cut, and
others have tested that. A rollback journal rather than a write-ahead log: between commits a store is one file, which
can be copied to another machine. Every commit is on the disk before its result is shown. Every row has a digest, for
what SQLite does not check: that a text is still what was written. A store is locked as long as it is open, and the
lock goes with the process.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from harness.errors import UserError

from .plan import Plan

FORMAT = 1
_APPLICATION = 0x72616365  # "race"
_FILE = "campaign.db"
_LEAST = 512  # bytes of the smallest database that is not empty
_TABLES = """
CREATE TABLE plan (body TEXT NOT NULL, digest TEXT NOT NULL);
CREATE TABLE units (number INTEGER PRIMARY KEY, body TEXT NOT NULL, seconds REAL NOT NULL, digest TEXT NOT NULL);
CREATE TABLE failures (unit INTEGER NOT NULL, outcome TEXT NOT NULL, signature TEXT NOT NULL,
                       body TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (unit, outcome, signature));
"""
Key = tuple[int, str, str]
"""Unit, outcome, signature: a unit keeps one failure of a kind."""


@dataclass
class Content:
    """units     number to what the search of it came to
    seconds   number to how long it took: the one thing that differs from one time to the next
    failures  by unit, outcome and signature
    """

    plan: Plan
    units: dict[int, dict[str, Any]] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    failures: dict[Key, dict[str, Any]] = field(default_factory=dict)

    def same(self, other: Content) -> bool:
        return (self.plan, self.units, self.failures) == (other.plan, other.units, other.failures)


class Store:
    """Open, locked, checked and read. Raises UserError, and changes nothing, where it cannot be used."""

    def __init__(self, path: Path, plan: Plan | None = None) -> None:
        """With a plan: made where there is none, and refused where it is about another. Without: to be read."""
        self.path = file_of(path)
        self._connection: sqlite3.Connection | None = None
        if plan is None and not self.path.is_file():
            raise UserError(f"{path}: no store there")
        try:
            with self._mistakes():
                if plan is not None:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                self._open(plan is not None)
                self.content = self._read(plan)
        except BaseException:
            self.close()
            raise
        if plan is not None and (why := self.content.plan.difference(plan)):
            self.close()
            raise UserError(f"{self.path}: a store of another campaign: {why}; name another store")

    def _open(self, writes: bool) -> None:
        if self.path.exists() and 0 < self.path.stat().st_size < _LEAST:
            raise UserError(f"{self.path}: not a store of a campaign")  # SQLite would take it for an empty one
        mode = "rwc" if writes else "rw" if os.access(self.path, os.W_OK) else "ro"
        uri = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
        self._connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
        if writes:
            self._run("PRAGMA locking_mode = EXCLUSIVE")
            self._run("PRAGMA synchronous = EXTRA")
            self._run("BEGIN EXCLUSIVE")
        else:
            self._run("BEGIN")

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        assert self._connection is not None
        return self._connection.execute(statement, values).fetchall()

    def _read(self, plan: Plan | None) -> Content:
        """In the transaction that opening began; ends it."""
        (application,), (version,) = self._run("PRAGMA application_id")[0], self._run("PRAGMA user_version")[0]
        empty = not application and not version and not self._run("SELECT 1 FROM sqlite_master")
        if empty and plan is not None:
            for statement in _TABLES.split(";")[:-1]:
                self._run(statement)
            self._run(f"PRAGMA application_id = {_APPLICATION}")
            self._run(f"PRAGMA user_version = {FORMAT}")
            body = _text(plan.to_json())
            self._run("INSERT INTO plan VALUES (?, ?)", body, _digest(body))
        elif application != _APPLICATION:
            raise UserError(f"{self.path}: not a store of a campaign")
        elif version != FORMAT:
            raise UserError(f"{self.path}: a store of format {version}; this version reads {FORMAT}")
        problems = self._run("PRAGMA integrity_check(1)")
        if problems != [("ok",)]:
            what = str(problems[0][0]).strip().splitlines()[-1]
            raise UserError(f"{self.path}: corrupt: {what}; restore a copy, or name another store")
        try:
            content = self._rows()
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{self.path}: corrupt: {error}; restore a copy, or name another store") from None
        self._run("COMMIT")
        return content

    def _rows(self) -> Content:
        ((body, digest),) = self._run("SELECT body, digest FROM plan")
        content = Content(Plan.from_json(self._checked(digest, body)))
        for number, body, seconds, digest in self._run("SELECT number, body, seconds, digest FROM units"):
            content.units[number] = self._checked(digest, body, number, seconds)
            content.seconds[number] = seconds
        for *key, body, digest in self._run("SELECT unit, outcome, signature, body, digest FROM failures"):
            unit, outcome, signature = key
            content.failures[unit, outcome, signature] = self._checked(digest, body, *key)
        return content

    def _checked(self, digest: str, body: str, *rest: Any) -> dict[str, Any]:
        if digest != _digest(body, *rest):
            raise UserError(f"{self.path}: corrupt: a row is not what was written; restore a copy, or name another store")
        data: dict[str, Any] = json.loads(body)
        return data

    def add_failure(self, key: Key, failure: dict[str, Any]) -> None:
        """On the disk when this returns. What was kept stays, unless only now it could be reduced."""
        known = self.content.failures.get(key)
        if known is not None and (known["minimal"] is not None or failure["minimal"] is None):
            return
        body = _text(failure)
        with self._mistakes():
            self._run("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)", *key, body, _digest(body, *key))
        self.content.failures[key] = json.loads(body)

    def add_unit(self, number: int, unit: dict[str, Any], seconds: float) -> None:
        """On the disk when this returns; a unit that is there already stays as it is."""
        if number in self.content.units:
            return
        body = _text(unit)
        with self._mistakes():
            self._run("INSERT INTO units VALUES (?, ?, ?, ?)", number, body, seconds, _digest(body, number, seconds))
        self.content.units[number] = json.loads(body)
        self.content.seconds[number] = seconds

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """One transaction for all that is added meanwhile."""
        with self._mistakes():
            self._run("BEGIN")
            yield
            self._run("COMMIT")

    @contextmanager
    def _mistakes(self) -> Iterator[None]:
        """What SQLite raises, as one line. A transaction that failed is undone by SQLite, now or at the next opening."""
        try:
            yield
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._run("ROLLBACK")
            raise UserError(f"{self.path}: {_meaning(error)}") from None
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror}") from None

    def close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def file_of(path: Path) -> Path:
    """A folder stands for a file in it; a path without a suffix that is not there yet is a folder to be made."""
    if path.is_dir() or (not path.suffix and not path.exists()):
        return path / _FILE
    return path


def _text(data: Any) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


_SAYS: dict[Callable[[str], bool], str] = {
    lambda text: "locked" in text: "in use by another process; wait for its end, or name another store",
    lambda text: "full" in text or "disk I/O" in text: (
        "it cannot be written ({}); what was reported before is kept: make room and give the same command again"
    ),
    lambda text: "not a database" in text: "not a store of a campaign",
    lambda text: "malformed" in text: "corrupt: {}; restore a copy, or name another store",
}


def _meaning(error: sqlite3.Error) -> str:
    text = str(error)
    return next((says.format(text) for fits, says in _SAYS.items() if fits(text)), text)
