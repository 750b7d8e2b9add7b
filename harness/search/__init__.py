"""Search: which schedules to try."""

from .explore import Exploration, explore
from .portfolio import STRATEGIES
from .runner import Runner
from .space import Space

__all__ = ["STRATEGIES", "Exploration", "Runner", "Space", "explore"]
