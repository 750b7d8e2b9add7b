"""Which release of torch brought a failure, and which one took it away."""

from .log import Log
from .question import Question
from .search import Found, conclude, next_release
from .step import Step

__all__ = ["Found", "Log", "Question", "Step", "conclude", "next_release"]
