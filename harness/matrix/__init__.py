"""Scenarios x releases of torch x fixes: what fails where, and what has changed since it was recorded."""

from .cell import Answer, Cell
from .plan import Line, lines
from .run import carry_out
from .shown import rows, table

__all__ = ["Answer", "Cell", "Line", "carry_out", "lines", "rows", "table"]
