"""Answers that were given before: one small file a cell in the user's cache folder, whole or absent."""

from __future__ import annotations

import json
from pathlib import Path

from harness.releases import cache
from harness.schedule import write_text

from .cell import Answer, Cell


def folder() -> Path:
    return cache.folder().parent / "matrix"


def recall(cell: Cell) -> Answer | None:
    """None where it was not asked before; a file that can't be read was not written by us."""
    try:
        return Answer.from_json(json.loads((folder() / f"{cell.key}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def keep(cell: Cell, answer: Answer) -> None:
    """On the disk when this returns; what is undecided is asked again the next time. Raises UserError where it can't be."""
    if answer.outcome != "?":
        write_text(folder() / f"{cell.key}.json", json.dumps(answer.to_json()) + "\n")
