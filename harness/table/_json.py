"""Plain data: one entry for each cell, with its heads by name."""

from __future__ import annotations

from typing import Any

from .table import Table


def as_json(table: Table) -> dict[str, Any]:
    """``{"title", "corner", "columns", "cells": [{"heads": {name: head}, "column", "text", "kind", "detail",
    "unexpected"}], "unexpected": how many, "notes"}``"""
    return {
        "title": table.title,
        "corner": list(table.corner),
        "columns": list(table.columns),
        "cells": [
            {
                "heads": dict(zip(table.corner, row.heads, strict=True)),
                "column": column,
                "text": cell.text,
                "kind": cell.kind,
                "detail": cell.detail,
                "unexpected": cell.unexpected,
            }
            for row, column, cell in table
        ],
        "unexpected": table.unexpected,
        "notes": list(table.notes),
    }
