"""Tables of verdicts: rows and columns with heads, cells with a word and what is behind it; one file for each format."""

from ._html import html
from ._json import as_json
from ._junit import junit
from ._markdown import markdown
from ._text import text
from .table import KINDS, Cell, Row, Table

__all__ = ["KINDS", "Cell", "Row", "Table", "as_json", "html", "junit", "markdown", "text"]
