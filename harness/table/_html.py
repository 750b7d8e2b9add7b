"""One page that needs no network: dark and light, on a phone the table scrolls in its own frame."""

from __future__ import annotations

from html import escape
from itertools import groupby

from .table import Cell, Row, Table


def html(table: Table) -> str:
    """Words say what colours say; the detail of a cell opens where it stands."""
    heads = "".join(f'<th scope="col">{escape(word)}</th>' for word in (*table.corner, *table.columns))
    wrong = f'<p class="unexpected">{table.unexpected} not as expected, marked with !</p>' if table.unexpected else ""
    return _PAGE.format(
        title=escape(table.title or "Table"),
        wrong=wrong,
        heads=heads,
        rows="\n".join(_rows(table)),
        notes="\n".join(f"<p>{escape(note)}</p>" for note in table.notes),
    )


def _rows(table: Table) -> list[str]:
    """Rows with the same upper heads share these."""
    lines = []
    for upper, group in groupby(table.rows, key=lambda row: row.heads[:-1]):
        rows = list(group)
        for index, row in enumerate(rows):
            shared = [_head(word, len(rows)) for word in upper] if index == 0 else []
            lines.append(f"<tr>{''.join(shared)}{_own(row)}{''.join(map(_cell, row.cells))}</tr>")
    return lines


def _own(row: Row) -> str:
    return "".join(_head(word, 1) for word in row.heads[-1:])


def _head(word: str, rows: int) -> str:
    span = f' rowspan="{rows}"' if rows > 1 else ""
    scope = "rowgroup" if rows > 1 else "row"
    return f'<th scope="{scope}"{span}>{escape(word)}</th>'


def _cell(cell: Cell) -> str:
    css = cell.kind + (" unexpected" if cell.unexpected else "")
    word = escape(cell.text) + ("&nbsp;!" if cell.unexpected else "")
    behind = "".join(f"<p>{escape(text)}</p>" for text in (cell.unexpected, cell.detail) if text)
    inside = f"<details><summary>{word}</summary>{behind}</details>" if behind else word
    return f'<td class="{css}">{inside}</td>'


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --rule: #c8c8c8;
  --good: #d9f0dc; --bad: #f9d9d6; --open: #ececec; --mark: #b3261e; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e6e6e6; --paper: #161616; --rule: #444;
  --good: #1d3b23; --bad: #4d211d; --open: #2e2e2e; --mark: #ff8a80; }} }}
body {{ font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 1.2rem; }}
h1 {{ font-size: 1.25rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid var(--rule); padding: .3rem .55rem; text-align: left; vertical-align: top; }}
td {{ min-width: 4.5rem; }}
th {{ white-space: nowrap; }}
.good {{ background: var(--good); }} .bad {{ background: var(--bad); }} .open {{ background: var(--open); }}
td.unexpected {{ outline: 3px solid var(--mark); outline-offset: -3px; font-weight: 600; }}
p.unexpected {{ color: var(--mark); font-weight: 600; }}
details p {{ margin: .3rem 0; max-width: 24rem; font-weight: 400; font-size: .85rem; overflow-wrap: anywhere; }}
summary {{ cursor: pointer; }}
</style>
<h1>{title}</h1>
{wrong}
<div class="scroll" tabindex="0"><table>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
{notes}
</html>
"""
