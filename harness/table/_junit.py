"""JUnit's XML, as services that run tests read it: a cell is a test."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from .table import Table

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(table: Table) -> str:
    """A cell that is not as expected is a failure; one of kind ``open`` is skipped; every other passes."""
    cells = list(table)
    skipped = sum(cell.kind == "open" and not cell.unexpected for _, _, cell in cells)
    counts = {"tests": str(len(cells)), "failures": str(table.unexpected), "errors": "0", "skipped": str(skipped)}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": _xml(table.title), **counts})
    for row, column, cell in cells:
        names = {"classname": _xml(".".join(row.heads)), "name": _xml(column)}
        case = ElementTree.SubElement(suite, "testcase", names)
        if cell.unexpected:
            failure = ElementTree.SubElement(case, "failure", {"message": _xml(cell.unexpected)})
            failure.text = _xml(f"{cell.text}\n{cell.detail}")
        elif cell.kind == "open":
            ElementTree.SubElement(case, "skipped", {"message": _xml(cell.detail or cell.text)})
        else:
            ElementTree.SubElement(case, "system-out").text = _xml(f"{cell.text}\n{cell.detail}".rstrip())
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _xml(text: str) -> str:
    """Without what no XML file can hold."""
    return _NOT_XML.sub("\ufffd", text)
