"""Other releases of torch: environments for them, and where they are kept."""

from .cache import Environment, find, installed, remove, this_python
from .install import SOURCES, add

__all__ = ["SOURCES", "Environment", "add", "find", "installed", "remove", "this_python"]
