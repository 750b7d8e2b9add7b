"""Reads and validates a table of what is expected of which release (``repro/expectations.toml`` is one).

A cell that no longer matches says which way: ``appeared``, ``fixed`` or ``changed``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

#: A table that has no row, or two, for one of these is refused.
RELEASES = tuple(f"2.{minor}.{patch}" for minor in range(5, 17) for patch in (0, 1))
#: As a state: it is one that no scan sees (in C++, in an object), and is not compared.
UNSEEN = "?"
_KEYS = {"scenario", "failure", "torch", "found", "budget"}
_IF_FOUND = {"directives", "state"}


class TableError(ValueError):
    """The table is not what it must be."""


@dataclass(frozen=True)
class Expectation:
    """pattern  regular expression for the signature of the failure meant
    most     directives in the smallest form at most, and ``least`` at least; 0: it fails without any switch
    lacks    full name of what the scenario uses and the release doesn't have: there is nothing to search
    """

    scenario: str
    pattern: str
    releases: SpecifierSet
    found: bool
    budget: int
    axes: dict[str, Any] = field(default_factory=dict)
    least: int = 1
    most: int = 0
    state: str = ""
    lacks: str = ""

    @property
    def name(self) -> str:
        return "-".join([self.scenario, *(f"{key}={value}" for key, value in sorted(self.axes.items()))])

    def applies(self, version: str) -> bool:
        """Does the row speak about this release? A nightly counts as the release it leads up to."""
        return self.releases.contains(Version(version).base_version, prereleases=True)

    def differs(self, found: bool, directives: int = 0, state: str | None = None) -> str:
        """Empty where a release shows what the row says; else ``appeared``, ``fixed`` or ``changed``, and how.

        ``found``: the failure meant was; ``directives`` in its smallest form; ``state``: what the explanation names, None
        where it was not asked.
        """
        if found and not self.found:
            return "appeared: it was not there when the table was written"
        if self.found and not found:
            return "fixed: it was there when the table was written"
        if found and not self.least <= directives <= self.most:
            wanted = f"{self.most}" if self.least == self.most else f"{self.least} to {self.most}"
            return f"changed: {directives} directives in the smallest form, not {wanted}"
        if found and state is not None and self.state != UNSEEN and state != self.state:
            return f"changed: through {state or 'no state that is seen'}, not {self.state or 'no state that is seen'}"
        return ""


def read(path: Path) -> list[Expectation]:
    """Raises TableError, in one line, for a table that can't be relied on."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{path.name}: {error}") from None
    if set(data) != {"failures", "expect"}:
        raise TableError(f"{path.name}: it has exactly the parts failures and expect")
    patterns = {name: _pattern(name, text) for name, text in data["failures"].items()}
    rows = [_row(number, row, patterns) for number, row in enumerate(data["expect"], 1)]
    for name in sorted({row.name for row in rows}):
        for release in RELEASES:
            _one(rows, name, release)
    return rows


def at(version: str, rows: Iterable[Expectation]) -> list[Expectation]:
    """The rows that apply to a release. Raises TableError for a release the table does not know."""
    rows = list(rows)
    return [_one(rows, name, version) for name in dict.fromkeys(row.name for row in rows)]


def _one(rows: list[Expectation], name: str, version: str) -> Expectation:
    matching = [row for row in rows if row.name == name and row.applies(version)]
    if len(matching) != 1:
        raise TableError(f"{name}: {len(matching)} rows apply to torch {version}, not one")
    return matching[0]


def _pattern(name: str, text: Any) -> str:
    try:
        re.compile(text)
    except (re.error, TypeError) as error:
        raise TableError(f"failure {name}: {error}") from None
    return str(text)


def _row(number: int, row: dict[str, Any], patterns: dict[str, str]) -> Expectation:
    where = f"row {number} ({row.get('scenario', 'no scenario')})"
    found = row.get("found")
    if type(found) is not bool:
        raise TableError(f"{where}: found is true or false")
    wanted = _KEYS | (_IF_FOUND if found else set())
    said = set(row) - ({"axes"} if found else {"axes", "lacks"})
    if said != wanted:
        odd = ", ".join(sorted(said ^ wanted))
        raise TableError(f"{where}: missing or unknown: {odd}")
    if row["failure"] not in patterns:
        raise TableError(f"{where}: no failure {row['failure']!r} is described")
    if type(row["budget"]) is not int or row["budget"] < 1:
        raise TableError(f"{where}: budget is a whole number of at least 1")
    try:
        releases = SpecifierSet(row["torch"])
    except InvalidSpecifier as error:
        raise TableError(f"{where}: {error}") from None
    least, most = _directives(where, row["directives"]) if found else (1, 0)
    if type(row.get("lacks", "")) is not str:
        raise TableError(f"{where}: lacks is the name of what the release does not have")
    return Expectation(
        row["scenario"], patterns[row["failure"]], releases, found, row["budget"], row.get("axes", {}),
        least, most, row.get("state", ""), row.get("lacks", ""),
    )  # fmt: skip


def _directives(where: str, value: Any) -> tuple[int, int]:
    exact = isinstance(value, dict) and set(value) == {"exactly"}
    number = value["exactly"] if exact else value
    if type(number) is not int or number < 0:
        raise TableError(f"{where}: directives is a number, or {{ exactly = number }}")
    return (number if exact else min(1, number)), number
