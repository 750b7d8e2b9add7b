"""Other releases of torch: which there are, environments for them, and where those are kept."""

from .cache import Environment, at_hand, find, installed, remove, this_python
from .install import SOURCES, add
from .published import NIGHTLY, Published, published

__all__ = [
    "NIGHTLY", "SOURCES", "Environment", "Published", "add", "at_hand", "find", "installed", "published", "remove",
    "this_python",
]  # fmt: skip
