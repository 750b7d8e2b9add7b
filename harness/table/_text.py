"""For a terminal: columns as wide as what is in them, and below what is not as expected."""

from __future__ import annotations

from .table import Table

_MARK = "!"


def text(table: Table) -> str:
    """No colours; ``!`` marks a cell that is not as expected, and a line below says why."""
    grid = [[*table.corner, *table.columns]]
    before: tuple[str, ...] = ()
    for row in table.rows:
        repeated = row.heads[:-1] == before and bool(before)  # the upper heads are said once
        heads = ["" for _ in row.heads[:-1]] + [row.heads[-1]] if repeated else list(row.heads)
        before = row.heads[:-1]
        grid.append([*heads, *(cell.text + _MARK * bool(cell.unexpected) for cell in row.cells)])
    grid = [[_one_line(word) for word in line] for line in grid]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    lines = [table.title] if table.title else []
    lines += ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in grid]
    lines += [
        f"{_MARK} {' '.join(row.heads)}, {column}: {_one_line(cell.unexpected)}" for row, column, cell in table if cell.unexpected
    ]
    return "\n".join([*lines, *table.notes]) + "\n"


def _one_line(word: str) -> str:
    return " ".join(word.split())
