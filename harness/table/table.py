"""What every format is drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

#: What a cell's word means, for colour: as wished, not as wished, not decided, neither.
KINDS = ("good", "bad", "open", "plain")


@dataclass(frozen=True)
class Cell:
    """text        a word or two, shown in place
    kind        one of ``KINDS``
    detail      what is behind it, shown where there is room: sentences, a token
    unexpected  why it is not what was recorded or required, empty where it is: such a cell is marked, and in JUnit it
                is a failed test

    Raises ValueError for a kind that is none.
    """

    text: str
    kind: str = "plain"
    detail: str = ""
    unexpected: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind!r}: one of {', '.join(KINDS)}")


@dataclass(frozen=True)
class Row:
    """heads  as many as the table's ``corner`` has names: ``("flag.warm", "call_lock")``
    cells  as many as it has columns
    """

    heads: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """corner   what each of a row's heads is: ``("scenario", "fix")``
    columns  their heads
    notes    sentences below it

    Raises ValueError where a row does not fit corner and columns.
    """

    title: str
    corner: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.heads) != len(self.corner) or len(row.cells) != len(self.columns):
                raise ValueError(
                    f"row {row.heads}: {len(row.heads)} heads and {len(row.cells)} cells; "
                    f"the table has {len(self.corner)} and {len(self.columns)}"
                )

    def __iter__(self) -> Iterator[tuple[Row, str, Cell]]:
        """(row, head of the column, cell), row by row."""
        for row in self.rows:
            for column, cell in zip(self.columns, row.cells, strict=True):
                yield row, column, cell

    @property
    def unexpected(self) -> int:
        """How many cells are not what was recorded or required."""
        return sum(bool(cell.unexpected) for _, _, cell in self)
