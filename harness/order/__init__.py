"""A test that fails only after others: after which, in which order, and whether garbage of theirs has a part in it."""

from .carry_out import carry_out
from .command import Command
from .finding import Finding
from .log import Log, Question
from .search import boundary, needed_order, shortest

__all__ = ["Command", "Finding", "Log", "Question", "boundary", "carry_out", "needed_order", "shortest"]
