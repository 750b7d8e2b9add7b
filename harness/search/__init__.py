"""Search: which schedules to try."""

from .explore import Exploration, Runner, explore
from .portfolio import STRATEGIES
from .space import Space

__all__ = ["STRATEGIES", "Exploration", "Runner", "Space", "explore"]
