"""Tables of verdicts in every format: nothing is lost, nothing in a cell breaks the format."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from harness.table import Cell, Row, Table, as_json, html, junit, markdown, text

ODD = "a | b <b>*x*</b> \x00\x1b[31m `y` & \"z\" {w} \\"


def table(*, odd: str = "") -> Table:
    rows = (
        Row(("flag.warm", "none"), (Cell("fails", "bad", "the token"), Cell("ok", "good"))),
        Row(("flag.warm", "call_lock"), (Cell("fails", "bad", odd), Cell("?", "open", "no environment"))),
        Row(("flag.gc", "none"), (Cell("fails", "bad"), Cell(odd or "fails", "bad", odd, odd or "appeared"))),
    )
    return Table("matrix", ("scenario", "fix"), ("2.9.1", "2.15.0"), rows, ("a note",))


def test_text() -> None:
    assert text(table()).splitlines() == [
        "matrix",
        "scenario   fix        2.9.1  2.15.0",
        "flag.warm  none       fails  ok",
        "           call_lock  fails  ?",
        "flag.gc    none       fails  fails!",
        "! flag.gc none, 2.15.0: appeared",
        "a note",
    ]


def test_text_of_a_table_with_one_head_repeats_nothing_away() -> None:
    one = Table("", ("fix",), ("a",), (Row(("x",), (Cell("1"),)), Row(("y",), (Cell("2"),))))
    assert text(one).splitlines() == ["fix  a", "x    1", "y    2"]


def test_markdown() -> None:
    lines = markdown(table()).splitlines()
    assert lines[2:7] == [
        "| scenario | fix | 2.9.1 | 2.15.0 |",
        "|---|---|---|---|",
        "| `flag.warm` | `none` | fails | ok |",
        "| `flag.warm` | `call_lock` | fails | ? |",
        "| `flag.gc` | `none` | fails | **fails** (!) |",
    ]
    assert "- `flag.gc` `none`, 2.15.0: appeared" in lines
    assert "- `flag.warm` `none`, 2.9.1: fails. the token" in lines
    assert "details" not in markdown(table(), details=False)


def test_a_token_in_markdown_can_be_copied() -> None:
    detail = "a_b; harness replay race1,a_b.c,threads=2,T0@read:m._x_@1@T1,0a1b2c --torch 2.9.1. Other: race1,d_e,threads=2,00ff00"
    sheet = Table("", ("s",), ("c",), (Row(("r",), (Cell("x", detail=detail),)),))
    (line,) = [line for line in markdown(sheet).splitlines() if line.startswith("- ")]
    assert line.endswith(
        "a\\_b; `harness replay race1,a_b.c,threads=2,T0@read:m._x_@1@T1,0a1b2c --torch 2.9.1`. Other: `race1,d_e,threads=2,00ff00`"
    )


def test_nothing_in_a_cell_ends_a_row_of_markdown() -> None:
    rows = [line for line in markdown(table(odd=ODD)).splitlines() if line.startswith("|")]
    assert len(rows) == 5
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}
    assert "<b>" not in "".join(rows)


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.cells: list[tuple[str, str]] = []
        self.spans: list[str] = []
        self.open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("b", "script", "link", "img"), tag
        about = dict(attrs)
        if tag == "td":
            self.cells.append((about["class"] or "", ""))
        self.open = tag == "td" or (self.open and tag in ("details", "summary", "p"))
        if "rowspan" in about:
            self.spans.append(about["rowspan"] or "")

    def handle_endtag(self, tag: str) -> None:
        self.open = self.open and tag != "td"

    def handle_data(self, data: str) -> None:
        if self.open and self.cells:
            self.cells[-1] = (self.cells[-1][0], self.cells[-1][1] + data)


def test_html() -> None:
    page = _Cells()
    page.feed(html(table()))
    assert page.cells == [
        ("bad", "failsthe token"), ("good", "ok"), ("bad", "fails"), ("open", "?no environment"),
        ("bad", "fails"), ("bad unexpected", "fails\xa0!appeared"),
    ]  # fmt: skip
    assert page.spans == ["2"]


def test_nothing_in_a_cell_is_read_as_html() -> None:
    page = _Cells()
    page.feed(html(table(odd=ODD)))
    assert len(page.cells) == 6
    assert "<b>*x*</b>" in page.cells[-1][1]


def test_json() -> None:
    data = as_json(table())
    assert data["unexpected"] == 1
    assert data["cells"][3] == {
        "heads": {"scenario": "flag.warm", "fix": "call_lock"}, "column": "2.15.0", "text": "?", "kind": "open",
        "detail": "no environment", "unexpected": "",
    }  # fmt: skip


@pytest.mark.parametrize("odd", ["", ODD, "\udcff", "]]>"])
def test_junit(odd: str) -> None:
    root = ElementTree.fromstring(junit(table(odd=odd)))
    (suite,) = root
    assert [suite.get(key) for key in ("tests", "failures", "skipped")] == ["6", "1", "1"]
    cases = [(case.get("classname"), case.get("name"), [child.tag for child in case]) for case in suite]
    assert cases[0] == ("flag.warm.none", "2.9.1", ["system-out"])
    assert cases[3] == ("flag.warm.call_lock", "2.15.0", ["skipped"])
    assert cases[5] == ("flag.gc.none", "2.15.0", ["failure"])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="1 heads and 0 cells"):
        Table("", ("a",), ("x",), (Row(("1",), ()),))
    with pytest.raises(ValueError, match="kind 'green'"):
        Cell("x", "green")
