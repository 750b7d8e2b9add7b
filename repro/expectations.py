"""The suite's own table of what is expected of which release."""

from __future__ import annotations

from pathlib import Path

from harness.matrix.expectations import RELEASES, UNSEEN, Expectation, TableError, at
from harness.matrix.expectations import read as _read

TABLE = Path(__file__).parent / "expectations.toml"

__all__ = ["RELEASES", "TABLE", "UNSEEN", "Expectation", "TableError", "at", "read"]


def read(path: Path = TABLE) -> list[Expectation]:
    """Raises TableError, in one line, for a table that can't be relied on."""
    return _read(path)
