"""Rows of the matrix: a scenario, with the axes and the failure that the table of expectations speaks of, and a fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.fixes import find_fix
from harness.fixes.registry import source_of as fix_source
from harness.kept import digest
from harness.scenario.load import builtin_names, source_of
from harness.schedule import Schedule, from_token, looks_like_token, to_token

from .cell import Cell
from .expectations import Expectation


@dataclass(frozen=True)
class Line:
    """scenario   its reference
    schedule   what is replayed; None: the scenario is searched
    expected   the rows of the table about it, of all releases; only of what happens without a fix
    """

    scenario: str
    digest: str
    fix: str = "none"
    fix_digest: str = ""
    axes: dict[str, Any] = field(default_factory=dict)
    schedule: Schedule | None = None
    expected: tuple[Expectation, ...] = ()

    @property
    def name(self) -> str:
        """``flag.checkpoint use_reentrant=true``"""
        return " ".join([self.scenario, *(f"{name}={value}" for name, value in sorted(self.axes.items()))])

    def expectation(self, release: str) -> Expectation | None:
        return next((row for row in self.expected if row.applies(release)), None)

    def cell(self, release: str, python: str, *, budget: int, seed: int, free: bool) -> Cell:
        row = self.expectation(release)
        meant = row or next(iter(self.expected), None)  # one name may mean another failure in a later release
        return Cell(
            self.scenario, self.digest, release, python, self.fix, self.fix_digest, self.axes, meant.pattern if meant else "",
            to_token(self.schedule) if self.schedule is not None else "", row.budget if row else budget, seed, free,
        )  # fmt: skip


def lines(asked: Sequence[str], fixes: Iterable[str], expected: Sequence[Expectation]) -> list[Line]:
    """Scenarios, tokens, and families (``flag`` is all of ``flag.…``). Raises UserError for what is none."""
    found = []
    for one in dict.fromkeys(name for text in asked for name in _family(text)):
        schedule = from_token(one) if looks_like_token(one) else None
        reference = schedule.scenario if schedule is not None else one
        source = digest(source_of(reference))
        about = [row for row in expected if row.scenario == reference] if schedule is None else []
        names = dict.fromkeys(row.name for row in about)
        groups = [tuple(row for row in about if row.name == name) for name in names] or [()]
        for rows in groups:
            axes = rows[0].axes if rows else dict(schedule.axes) if schedule is not None else {}
            for fix in fixes:
                name = find_fix(fix).name
                found.append(Line(reference, source, name, digest(fix_source(name)), axes, schedule, rows))
    return found


def _family(text: str) -> list[str]:
    return [name for name in builtin_names() if name.startswith(f"{text}.")] or [text]


def table_of(path: Path | None) -> list[Expectation]:
    """Raises UserError where the table can't be read or relied on."""
    from .expectations import TableError, read

    if path is None:
        return []
    try:
        return read(path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (TableError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {str(error).removeprefix(path.name + ': ')}") from None
