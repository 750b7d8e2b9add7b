"""What every thread of a kind must have returned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def each(results: Iterable[Any], wanted: Any, what: str) -> None:
    """None is of a thread that raised: that is a finding of its own. Raises AssertionError."""
    for result in results:
        assert result is None or result == wanted, f"wrong {what}: {result}"
