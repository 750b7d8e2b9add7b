"""For pytest: the fixture ``race`` and what it answers. The plugin itself is :mod:`harness.plugin.hooks`."""

from .answers import Explanation, Hunt, Replay
from .race import Race

__all__ = ["Explanation", "Hunt", "Race", "Replay"]
