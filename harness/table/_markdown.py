"""Markdown, for a file in a repository or an upstream issue."""

from __future__ import annotations

import re

from .table import Cell, Table

_TOKEN = re.compile(r"((?:harness replay )?race\d+,\S+?,[0-9a-f]{6}(?![\w,])(?: --[a-z]+ [\w:-]+(?:\.[\w:-]+)*)*)")


def markdown(table: Table, *, details: bool = True) -> str:
    """``details``: what is behind each cell, in a part below that can be folded."""
    lines = [f"## {table.title}", ""] if table.title else []
    lines.append(_line([*table.corner, *table.columns]))
    lines.append("|" + "---|" * (len(table.corner) + len(table.columns)))
    lines += [_line([*map(_code, row.heads), *map(_word, row.cells)]) for row in table.rows]
    if wrong := [(row, column, cell) for row, column, cell in table if cell.unexpected]:
        lines += ["", "Not as expected:", ""]
        lines += [f"- {' '.join(map(_code, row.heads))}, {_plain(column)}: {_plain(cell.unexpected)}" for row, column, cell in wrong]
    if table.notes:
        lines += ["", *(f"{_plain(note)}\n" for note in table.notes)]
    behind = [(row, column, cell) for row, column, cell in table if cell.detail]
    if details and behind:
        lines += ["", "<details><summary>What is behind each cell</summary>", ""]
        lines += [
            f"- {' '.join(map(_code, row.heads))}, {_plain(column)}: {_plain(cell.text)}. {_detail(cell.detail)}" for row, column, cell in behind
        ]
        lines += ["", "</details>"]
    return "\n".join(lines).rstrip("\n") + "\n"


def _line(words: list[str]) -> str:
    return "| " + " | ".join(word.replace("|", "\\|") for word in words) + " |"


def _word(cell: Cell) -> str:
    return f"**{_plain(cell.text)}** (!)" if cell.unexpected else _plain(cell.text)


def _code(word: str) -> str:
    word = " ".join(word.split()).replace("`", "'")
    return f"`{word}`" if word else ""


def _detail(words: str) -> str:
    """A token, with the command around it, is there to be copied: as it is."""
    return "".join(_code(part) if at % 2 else _plain(part) for at, part in enumerate(_TOKEN.split(words)))


def _plain(words: str) -> str:
    """On one line; what Markdown would read as a tag or as emphasis is shown as it is."""
    words = re.sub(r"\s+", " ", words).replace("\\", "\\\\").replace("<", "&lt;")
    for sign in "*_`":
        words = words.replace(sign, f"\\{sign}")
    return words
