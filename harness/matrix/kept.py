"""Answers that were given before, a cell each."""

from __future__ import annotations

from harness import kept

from .cell import Answer, Cell


def recall(cell: Cell) -> Answer | None:
    """None where it was not asked before."""
    data = kept.recall("matrix", cell.key)
    try:
        return None if data is None else Answer.from_json(data)
    except (TypeError, KeyError):
        return None


def keep(cell: Cell, answer: Answer) -> None:
    """What is undecided is asked again the next time. Raises UserError where it can't be written."""
    if answer.outcome != "?":
        kept.keep("matrix", cell.key, answer.to_json())
