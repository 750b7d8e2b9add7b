"""Why a run failed."""

from .cause import Cause, candidates
from .text import as_text

__all__ = ["Cause", "as_text", "candidates"]
