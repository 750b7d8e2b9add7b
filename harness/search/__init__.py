"""Search: which schedules to try."""

from .explore import Exploration, Runner, explore
from .portfolio import STRATEGIES

__all__ = ["STRATEGIES", "Exploration", "Runner", "explore"]
