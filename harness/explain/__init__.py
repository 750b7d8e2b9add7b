"""Why a run failed: which state, who wrote it, who read it, with which values."""

from .cause import Cause, find_cause
from .text import as_text

__all__ = ["Cause", "as_text", "find_cause"]
