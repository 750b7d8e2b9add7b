"""Answers as a table, and as rows of plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.table import Cell as Shown
from harness.table import Row, Table

from .cell import Answer, Cell
from .plan import Line


def table(title: str, matrix: Sequence[tuple[Line, Sequence[Cell]]], answers: Mapping[Cell, Answer]) -> Table:
    releases = tuple(cell.torch for cell in matrix[0][1]) if matrix else ()
    made = tuple(
        Row((line.name, line.fix), tuple(_shown(line, cell, answers[cell]) for cell in cells)) for line, cells in matrix
    )
    notes = (
        "A word and a number: the failure, and how many hand-overs or collections its smallest schedule has. "
        "ok: none, by a search that came to its end. ?: undecided.",
    )
    return Table(title, ("scenario", "fix"), releases, made, notes)


def _shown(line: Line, cell: Cell, answer: Answer) -> Shown:
    row = line.expectation(cell.torch) if line.fix == "none" else None
    unexpected = row.differs(answer.found, answer.directives) if row is not None and answer.outcome != "?" else ""
    detail = [part for part in (answer.signature, answer.why) if part]
    detail += [f"other: {other}" for other in answer.others]
    detail += [f"harness replay {answer.token} --torch {cell.torch}"] if answer.token else []
    kind = "open" if answer.outcome == "?" else "bad" if answer.found else "good"
    word = f"{answer.outcome} {answer.directives}" if answer.found else answer.outcome
    return Shown(word, kind, "; ".join(detail), unexpected)


def rows(matrix: Sequence[tuple[Line, Sequence[Cell]]], answers: Mapping[Cell, Answer]) -> list[dict[str, Any]]:
    return [
        {
            "torch": cell.torch,
            "scenario": line.scenario,
            "axes": line.axes,
            "fix": line.fix,
            "outcome": answers[cell].outcome,
            "signature": answers[cell].signature,
            "token": answers[cell].token,
            "unexpected": _shown(line, cell, answers[cell]).unexpected,
        }
        for line, cells in matrix
        for cell in cells
    ]
