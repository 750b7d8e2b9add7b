"""Process-wide mutable state: where it is written and read, found from bytecode and declared where bytecode is blind."""

from .codes import Access, CodeSites, Table
from .scan import scan

__all__ = ["Access", "CodeSites", "Table", "scan"]
